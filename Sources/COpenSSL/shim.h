// OpenSSL's libcrypto as Swift sees it: its own headers, nothing added. Opaque types and functions only.
#pragma once

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
