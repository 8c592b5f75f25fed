// Keys that tests read. None of them protects anything.
import Basics

enum TestKeys {
    /// The modulus of RFC 7515, A.2, with the exponent 65,537.
    static let modulus: [UInt8] =
        Base64.urlSafe.decode(
            "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS"
                + "-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2"
                + "R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcD"
                + "TW9gb54h4FRWyuXpoQ") ?? []

    /// The private key of RFC 7515, A.2, in PKCS#8.
    static let rsa2048 = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCh+BYK4uPJtGXO
        jS1lYmM2K5J9vinh8CR3/BYlzJChNuOL2TSXxbbqY913EeZ8dCn5VrD7io8ImtxL
        aYk8wTM/U+3QGbh3hCUv7JFP5IV3aVlL6kKA0ywPVb9ilE8TA5a8bpvfbr3SvaNn
        juygxmj3AbONv/s4yDQs4v5tJ/reSlpIdJed1LnPmt7Ex1sFhSwsD174pcF1A5L5
        ROjtZMEQxrZHYJqkeDrrnGya11UxMFBji4NmXG9veoKjlnAqH2QbgtPr8jkiGUkf
        toaHLFcW9Qr4NY2ai50Xw0Byj3+H2JoY2PyrZ62EWQwuz3WTOTY8BwNNb2BvniHg
        VFbK5emhAgMBAAECggEAEq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyW
        PEAeP88vLNO97IjlA7/GQ5sLKMgvfTeXZx9SE+7YwVol2NXOoAJe46sui395IW/G
        O+pWJ1O0BkTGoVEn2bKVRUCgu+GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzj
        kn439X0M/V51gfpRLI9JYanrC4D4qAdGcopV/0ZHHzQlBjudU2QvXt4ehNYTCBr6
        XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl/x/jTj3ccPDVZFD9pIuhLhBOneufuBiB
        4cS98l2SR/RQyGWSeWjnczT0QU91p1DhOVRuOopznQKBgQDgHMQQ60imZV1URk0K
        pLttoLhyt3SmqdEf/kgHePDdtzEafpAu+cS191R2JiuoF2yzWXnwFDcqGigp5BNr
        0AHQfD8/Lk8l1Mk09jxxCfui5nYooNyac8YFjm3vItzVCVDnEd3BbVWG8qf6deqE
        lMGAg+C2V0L4oNXnP7LZcPAZRwKBgQC5A8R+CZW2MvRTLLHzwZkUXV866cff7tx6
        kqa0finGG0KgeqlaZPxgCZnFp7AeAcCMtiynVlJ7vMVgePsLq6XtON4tB5kP9jAP
        rq3rbAOal78eUH5OcED6eNuCV8ixEu1eWcPNCS/l1OW1EnXUEoEHKl54Xrrz2uNw
        kgMTP1FZ1wKBgAcCn1dwJKufzBWQxWQp1vsM5fggqPN1qGb5y0MAk3g7/Ls5bkUp
        5u9SN0Ai3Ya6hNnvWJMb7sXQX6U/zyO2M/hTip7tUeh7CXgwo59dkpN75gJLVds2
        9+DAncu3KXU4f2Fa+7bLNrur53k8KwPOq2bbuTG69QtV7Jr5MR0AHWKNAoGBAIf/
        evpitUf+4JYbLpvNXWcY052Mpz22aR84mY3nh3F2LF2mjMJDpTg7FmuyPcVw6EcG
        yoAe9fa65iNqCq+jdw6PVNGo2hxfjSiZ8IIzHdsPXI89//pMjZcQK9r+CCoRjaZj
        OYiIDktVWZzmevJuv6WywUqd57LE3Zar3dLSIkx1AoGAIYd7DHOhrWvxkwPQsRM2
        tOgrjbcrfvtQJipd+DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd/QJQ3
        ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp/gh6A56
        03k2+ZQwVK0JKSHuLFkuQ3U=
        -----END PRIVATE KEY-----
        """

    /// The same key in PKCS#1.
    static let rsa2048Older = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEowIBAAKCAQEAofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd/wWJcyQoTbji9k0
        l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL+yRT+SFd2lZS+pC
        gNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb/7OMg0LOL+bSf63kpaSHSX
        ndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uD
        Zlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxXFvUK+DWNmoudF8NAco9/h9iaGNj8
        q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQIDAQABAoIBABKucaRpzQorw35S
        bEUAVx8dYXUdZOlJcHtiWQ+dC6V8ljxAHj/PLyzTveyI5QO/xkObCyjIL303l2cf
        UhPu2MFaJdjVzqACXuOrLot/eSFvxjvqVidTtAZExqFRJ9mylUVAoLvhowVWmC1O
        n95fZCXxTUtxNEG1Xcc7m0rtzJKs45J+N/V9DP1edYH6USyPSWGp6wuA+KgHRnKK
        Vf9GRx80JQY7nVNkL17eHoTWEwga+lwi0FEoW9Y7lDtWXYmKBWhUE+U8PGxlJf8f
        40493HDw1WRQ/aSLoS4QTp3rn7gYgeHEvfJdkkf0UMhlknlo53M09EFPdadQ4TlU
        bjqKc50CgYEA4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH/5IB3jw3bcxGn6QLvnE
        tfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw/Py5PJdTJNPY8cQn7ouZ2KKDcmnPG
        BY5t7yLc1QlQ5xHdwW1VhvKn+nXqhJTBgIPgtldC+KDV5z+y2XDwGUcCgYEAuQPE
        fgmVtjL0Uyyx88GZFF1fOunH3+7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYs
        p1ZSe7zFYHj7C6ul7TjeLQeZD/YwD66t62wDmpe/HlB+TnBA+njbglfIsRLtXlnD
        zQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdcCgYAHAp9XcCSrn8wVkMVkKdb7
        DOX4IKjzdahm+ctDAJN4O/y7OW5FKebvUjdAIt2GuoTZ71iTG+7F0F+lP88jtjP4
        U4qe7VHoewl4MKOfXZKTe+YCS1XbNvfgwJ3Ltyl1OH9hWvu2yza7q+d5PCsDzqtm
        27kxuvULVeya+TEdAB1ijQKBgQCH/3r6YrVH/uCWGy6bzV1nGNOdjKc9tmkfOJmN
        54dxdixdpozCQ6U4OxZrsj3FcOhHBsqAHvX2uuYjagqvo3cOj1TRqNocX40omfCC
        Mx3bD1yPPf/6TI2XECva/ggqEY2mYzmIiA5LVVmc5nrybr+lssFKneeyxN2Wq93S
        0iJMdQKBgCGHewxzoa1r8ZMD0LETNrToK423K377UCYqXfg5XMclbrjPbEC3YI1Z
        NqMtuhdBJqUnBi6tjKMF+34Xf0CUN8ncuXGO2CAYvO8PdyCixHX52ybaDjy1FtCE
        6yUXjoKNXKvUm7MWGsAYH6f4IegOetN5NvmUMFStCSkh7ixZLkN1
        -----END RSA PRIVATE KEY-----
        """

    /// The same key with one bit of a prime factor changed.
    static let rsa2048Damaged = rsa2048.replacing("PNCS/l1OW1", with: "PNCy/l1OW1")

    /// RSA with 1,024 bits.
    private static let rsa1024 = """
        -----BEGIN PRIVATE KEY-----
        MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBAMEQh3JVNPqxSGwg
        xLdVieq8E/66euQYjTUrGL3tvy8X0dsS1+BvYYN4zfyUnbEIFm9aM5eP7KPAGGz5
        cMX4OxZ6z56ROiuP30oRS+8sAtqtijpJb2QmYWe0+duqG/yLBxyuj9bO1fO+543p
        x2vdd0h2hBHzThVUsvmBWCrZL075AgMBAAECgYEAjKI4t+0fgXnAUptwEEgsBaRp
        QEWgnSTRP6icBkX33RsRz+4i+KbJtpY6HkI3uCw3A3gGWuIJM6MLZ94v6tWOW+Ph
        sRgISwi4dC/+gE4Zbg93BXctMFQWpMJFq1ypYYXhV9i0x3QMgOD+CPQOR64qu+bH
        RHEpv0QXoBRhpIrh670CQQD+IwQI/T/PClTmxTaX90Hlsh1pCozG6OfcReC7Z4+x
        eQmcjxfHLvQPdtdysv3xYWlqCELw6G8tEg5HFFn0Y6k3AkEAwnrjWzZg2TqEtla8
        Xyltb6m2Js4nDt4DHulvfANgTNlp4ikoN1Hb3zcWdAm7jXen7MpXVRMwDVj8R8DI
        rlIhTwJBAMr5PoTLd8Yts0epJYRUKB6DlrfJhExtwpmMegRTn1GYoVOYed5NIwKi
        4UqrqOS774yPUp/ElN8Dd8HPgFUPsBsCQCSrURUQssAixYUv44K55/WG9V5pvnmS
        KNp6P1gNtummkM1g30FXAPMcivJEJ4XsCtCd8kuLO6M4pRDOa8hamgcCQFA9n/wu
        mqtZbNT/QjtJGuVOoXRaqOSZ+rwc6ubLYY7U1myiLcCsDxK3yyijbNTJVLMTnoxA
        /mPEd3sE2xIK27Q=
        -----END PRIVATE KEY-----
        """

    /// A key on P-256, encrypted with the password "x".
    private static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgqBwf5rOtNUwICA+gw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIEEBjqqDpJOkQUwQ3oeYCcVFAEgZAL
        BzryKixpe4Ods58mM8XrQJ1RmNQKRbBs6yTjbO4seEbnY/ip6NKIj9DNpXQWZK4i
        4vfBzdoadE1EjSDXe/yGJiB5KeiJ+Dpm3szxlw9zJEbSEmZ20sy40BQPmyT0bOlO
        OFG3lXLTzGSu+VlpUQVP6HcF90WPjH89LUYeYrPH0cuakVxu6Tb0NfLt1Kncrm0=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// A public key.
    private static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE2tC2U5QiHPmwUeH+yleH0Jjf5jf8
        kLnvlF0MN3JYEYBScaBGHNuCUtYfHEVvo+WasfRbM6zPX1g4ngV3uJkLsw==
        -----END PUBLIC KEY-----
        """

    private static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIP6nwlwRv2f7/+cODQw2q0DsY5zSJlLqUqgOaeLzHodE
        -----END PRIVATE KEY-----
        """

    /// On another curve of 256 bits.
    private static let secp256k1 = """
        -----BEGIN PRIVATE KEY-----
        MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQge088CmQN/r6c5VZ/0J+9
        ioR125GKeeazgLgnQe2Lg0ehRANCAARqjd4XNEKtEGLEuDHsPkPoIBW1WADbYISc
        IW13VdJLlK5wJWFetjh1Rid09yYp3GMNd4iLFw/OrjVZsdO+MRNQ
        -----END PRIVATE KEY-----
        """

    private static let secp384r1 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDA7COSMpEYRlZZk6Q+y
        jf0V+mz7nq7zG+FeFytXjtPIb+z1ZHkHI29CVPP4XEhaeTShZANiAAQYF3D+Qmzp
        u5Xra8AURLz0/sjuHh9K8XM7qmuCkaDlE5nCSuyKgt8iQ6VIpawRDylwkBToJtSQ
        MIkjPLdLmxnZmRcSD0STGvfj0sA0iLhcJ8BYQ/OpzkONwSJlifLQHx8=
        -----END PRIVATE KEY-----
        """

    /// A key on P-256 with the public half of another one.
    private static let mixed = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgaWVwcC/nBOGuU+Zz
        /n7mNh2f6VcUglrENOUx+vDsYv2hRANCAASOUztvoL97RiW7MGZ8Aftgfvn4uKgP
        71swBihwMYeyo3PrHb3gMxg2bQafg6b1kABTxzYzywQbIcVeGobB9AC0
        -----END PRIVATE KEY-----
        """

    /// PEM that holds neither a private key on P-256 nor one of RSA with 2,048 bits.
    static let refused = [
        rsa1024, encrypted, publicKey, ed25519, secp256k1, secp384r1, mixed,
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
    ]
}
