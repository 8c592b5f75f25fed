// libseccomp as Swift sees it.
#pragma once

#include <seccomp.h>
