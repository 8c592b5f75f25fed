// zlib as Swift sees it. No logic.
#ifndef PARLEY_CZLIB_SHIM_H
#define PARLEY_CZLIB_SHIM_H

#include <zlib.h>

/// Prepares a stream that writes one gzip file at the highest level. deflateInit2 is a macro, which Swift can't call.
/// 31: the largest window, and the gzip format. 9: the most memory.
static inline int parley_gzip_begin(z_stream *stream) {
    return deflateInit2(stream, Z_BEST_COMPRESSION, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY);
}

#endif
