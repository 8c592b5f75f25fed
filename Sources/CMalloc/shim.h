// malloc_trim(3), which the Glibc module leaves out.
#pragma once
#include <malloc.h>
