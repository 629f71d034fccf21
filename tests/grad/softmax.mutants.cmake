# Since a softmax sums to 1, zeros are the right gradient of its sum: only a random cotangent tells the first of these.
mutant(softmax gradient_is_zero FIND "dx[i] += y_row[i] * (dy[i] - dy_dot_y)" REPLACE "dx[i] += 0 * dy_dot_y")
mutant(softmax without_projection FIND "(dy[i] - dy_dot_y)" REPLACE "dy[i]")
mutant(softmax forgets_y_outside FIND "y_row[i] * (dy[i] - dy_dot_y)" REPLACE "(dy[i] - dy_dot_y)")
mutant(softmax assigns_dx FIND "dx[i] += y_row[i]" REPLACE "dx[i] = y_row[i]")

set(file FILE autograd/ops/softmax.cpp)
mutant(log_softmax without_the_sum FIND " - fast_exp(y_row[i]) * dy_sum" REPLACE "" ${file})
mutant(log_softmax forgets_the_exponential FIND "fast_exp(y_row[i]) * dy_sum" REPLACE "y_row[i] * dy_sum" ${file})
mutant(log_softmax assigns_dx FIND "dx[i] += dy[i] - " REPLACE "dx[i] = dy[i] - " ${file})
