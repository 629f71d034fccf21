mutant(embedding a_repeated_id_overwrites FIND "drow[c] += dy[c]" REPLACE "drow[c] = dy[c]")
mutant(embedding gives_to_the_place FIND "D + static_cast<std::size_t>(ids[i]) * C"
  REPLACE "D + i % table.extent(0) * C")
mutant(embedding reads_the_first_token FIND "DY + i * C" REPLACE "DY")
