// The one scalar type of the library.
//
// The same sources are compiled twice: with float, for speed, and with double (GRADUS_DOUBLE), where a
// central difference is sharp enough to see a forgotten epsilon. Never link both flavours into one program.
#pragma once

namespace gradus {

#ifdef GRADUS_DOUBLE
using Real = double;
#else
using Real = float;
#endif

}  // namespace gradus
