#!/usr/bin/env python3
"""Writes unicode_tables.cpp: which code points are letters (categories L*) and which are numbers (N*).

    python3 nn/text/unicode_tables.py > nn/text/unicode_tables.cpp
"""
import sys
import unicodedata


def ranges(category):
    found = []
    for code in range(sys.maxunicode + 1):
        if not unicodedata.category(chr(code)).startswith(category):
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def table(name, category):
    line = "   "
    print(f"static constexpr CodeRange {name}[] = {{")
    for first, last in ranges(category):
        entry = f" {{0x{first:X}, 0x{last:X}}},"
        if len(line) + len(entry) > 120:
            print(line)
            line = "   "
        line += entry
    print(line + "\n};\n")


print(f"// Written by unicode_tables.py from Unicode {unicodedata.unidata_version}: do not edit.")
print('#include "nn/text/unicode.h"\n\nnamespace gradus::nn {\n')
table("letters", "L")
table("numbers", "N")
print("std::span<const CodeRange> letter_ranges() { return letters; }")
print("std::span<const CodeRange> number_ranges() { return numbers; }\n\n}  // namespace gradus::nn")
