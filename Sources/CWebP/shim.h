// libwebp as Swift sees it.
#pragma once

#include <webp/decode.h>
#include <webp/encode.h>
