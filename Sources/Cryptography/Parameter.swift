// A parameter of an algorithm, as libcrypto takes it: by pointers to a name and a value.
import COpenSSL

/// A name and a value. Names are those of `openssl/core_names.h`; their bytes last as long as the process.
struct Parameter {
    private enum Value {
        case text(StaticString)
        case bytes([UInt8])
        case number([UInt8])
    }

    private let name: StaticString
    private let value: Value

    static func text(_ name: StaticString, _ text: StaticString) -> Parameter {
        Parameter(name: name, value: .text(text))
    }

    static func bytes(_ name: StaticString, _ bytes: [UInt8]) -> Parameter {
        Parameter(name: name, value: .bytes(bytes))
    }

    /// - Parameter bytes: in the byte order of the machine, at least one.
    static func number(_ name: StaticString, native bytes: [UInt8]) -> Parameter {
        Parameter(name: name, value: .number(bytes))
    }

    /// Calls `body` with libcrypto's array of these parameters, which is valid until `body` returns.
    static func withAll<Result>(
        _ parameters: [Parameter], _ body: (UnsafeMutablePointer<OSSL_PARAM>?) -> Result
    ) -> Result {
        var all: [OSSL_PARAM] = []
        func add(_ rest: ArraySlice<Parameter>) -> Result {
            guard let next = rest.first else {
                all.append(OSSL_PARAM_construct_end())
                return all.withUnsafeMutableBufferPointer { body($0.baseAddress) }
            }
            let name = next.name.characters
            switch next.value {
            case .text(let text):
                // libcrypto only reads the values, although their pointers are not const. Count 0: the text ends with a 0.
                all.append(OSSL_PARAM_construct_utf8_string(name, UnsafeMutablePointer(mutating: text.characters), 0))
                return add(rest.dropFirst())
            case .bytes(let bytes):
                return bytes.withUnsafeBytes { bytes in
                    all.append(
                        OSSL_PARAM_construct_octet_string(
                            name, UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count))
                    return add(rest.dropFirst())
                }
            case .number(let bytes):
                return bytes.withUnsafeBufferPointer { bytes in
                    all.append(
                        OSSL_PARAM_construct_BN(name, UnsafeMutablePointer(mutating: bytes.baseAddress), bytes.count))
                    return add(rest.dropFirst())
                }
            }
        }
        return add(parameters[...])
    }
}

extension StaticString {
    fileprivate var characters: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
