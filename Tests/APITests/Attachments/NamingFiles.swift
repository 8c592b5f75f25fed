// Names of files: from a client, and in the Content-Disposition of a download.
import Domain
import Testing

@testable import API

@Suite("Names of files", .timeLimit(.minutes(1)))
struct NamingFiles {
    @Test(
        "lose what could mislead or leave a folder",
        arguments: [
            ("a.jpg", "a.jpg"), ("../../etc/passwd", ".._.._etc_passwd"), ("C:\\x\\y.exe", "C:_x_y.exe"),
            ("a\u{202E}gpj.exe", "a gpj.exe"), ("a\r\nb\u{0}c", "a  b c"), ("  a b  ", "a b"),
            ("Ünïcode 👍.png", "Ünïcode 👍.png"),
            ("", nil), ("   ", nil), (".", nil), ("..", nil), ("\u{202E}", nil),
        ] as [(String, String?)])
    func safe(_ given: String, _ expected: String?) {
        #expect(FileName.safe(given) == expected)
    }

    @Test("have at most 255 bytes and keep their extension")
    func cut() {
        let long = FileName.safe(String(repeating: "é", count: 300) + ".jpeg") ?? ""
        #expect(long.utf8.count == 255 && long.hasSuffix("é.jpeg"))
        let stem = FileName.safe("a." + String(repeating: "b", count: 400)) ?? ""
        #expect(stem.utf8.count == 255)
    }

    @Test("have an extension for a well-known type")
    func standard() {
        #expect(FileName.standard(type: "image/jpeg") == "file.jpg")
        #expect(FileName.standard(type: "Image/PNG; a=b") == "file.png")
        #expect(FileName.standard(type: "x/y") == "file" && FileName.standard(type: nil) == "file")
    }

    @Test(
        "are read from Content-Disposition",
        arguments: [
            ("attachment; filename=a.txt", "a.txt"), ("attachment; filename=\"a b;c.txt\"", "a b;c.txt"),
            ("inline;filename=\"a\\\"b\"; x=y", "a\"b"), ("attachment; FileName = a", "a"),
            ("attachment; filename=a; filename*=UTF-8''%e2%82%ac%20b", "€ b"),
            ("attachment; filename*=utf-8'de'%C3%A4+", "ä+"),
            ("attachment; filename*=ISO-8859-1''%e4; filename=b", "b"),
            ("attachment; filename*=UTF-8''%ff; filename=b", "b"), ("attachment", nil), ("", nil), (";;;", nil),
            ("attachment; x; filename=a", "a"), ("attachment;;x ;filename=\"b\";y", "b"), ("attachment; x", nil),
            ("attachment; filename", nil), ("attachment; filename=\"open", "open"),
        ] as [(String, String?)])
    func parsed(_ header: String, _ expected: String?) {
        #expect(ContentDisposition.fileName(in: header) == expected)
    }

    @Test("are written for old clients and for new ones, and read again")
    func rendered() {
        let header = ContentDisposition.render(isInline: true, name: "a \"€\"%.jpg")
        #expect(
            header == #"inline; filename="a ____.jpg"; filename*=UTF-8''a%20%22%E2%82%AC%22%25.jpg"#)
        for name in ["plain.txt", "Ünï 👍;=,'\".png", String(repeating: "é", count: 127)] {
            let written = ContentDisposition.render(isInline: false, name: name)
            #expect(ContentDisposition.fileName(in: written) == name && written.utf8.allSatisfy { $0 < 0x7f })
        }
    }
}
