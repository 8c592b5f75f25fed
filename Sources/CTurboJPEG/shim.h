// libjpeg-turbo as Swift sees it.
#pragma once

#include <turbojpeg.h>
