// libpng as Swift sees it.
#pragma once

#include <png.h>
