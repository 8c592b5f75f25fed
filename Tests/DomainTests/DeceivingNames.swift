// Names that mislead: which are refused, which are allowed, and which count as equal.
import Domain
import Testing

@Suite("Names that mislead", .timeLimit(.minutes(1)))
struct DeceivingNames {
    /// The errors of a text as a name, a title, a device name and a status text.
    private func refusals(_ text: String) -> [String?] {
        func detail(_ read: () throws -> Void) -> String? {
            do { try read() } catch { return (error as? Invalid)?.fields.first?.detail ?? "\(error)" }
            return nil
        }
        return [
            detail { _ = try DisplayName(text: text) }, detail { _ = try DeviceName(text: text) },
            detail { _ = try StatusText(text: text) }, detail { _ = try Title(text: text, characterCountMax: 128) },
        ]
    }

    @Test(
        "that change the direction of text are refused, by the character",
        arguments: [
            "\u{061C}", "\u{200E}", "\u{200F}", "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2066}",
            "\u{2067}", "\u{2068}", "\u{2069}",
        ])
    func directions(_ control: String) {
        for refusal in refusals("Ann \(control)nnA") {
            #expect(refusal?.hasSuffix("which changes the direction of text.") == true, "\(refusal ?? "")")
        }
    }

    @Test(
        "with tag characters that make no flag are refused",
        arguments: [
            "Ann\u{E0041}\u{E006E}", "\u{E0001}Ann", "Ann\u{E007F}", "\u{1F3F4}\u{E0067}\u{E0062}",
            "\u{1F3F4}\u{E007F}",
            "\u{1F3F4}\u{E0067}\u{E007F}", "\u{1F3F4}\u{E0067}\u{E0042}\u{E0063}\u{E007F}",
            "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E0067}\u{E0067}\u{E007F}",
            "\u{1F44D}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
        ])
    func tags(_ text: String) {
        for refusal in refusals(text) { #expect(refusal?.contains("a tag character") == true, "\(refusal ?? "")") }
    }

    @Test(
        "with nothing to see are refused",
        arguments: [
            "\u{200B}", "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{AD}", "\u{34F}", "\u{3164}", "\u{FFA0}", "\u{115F}",
            "\u{2800}",
            "\u{180E}", "\u{FE0F}", "\u{1D159}", "\u{301}", "\u{20DD}", "\u{200B} \u{AD}\u{3164}\u{2800}", "\u{17B4}",
        ])
    func invisible(_ text: String) {
        for refusal in refusals(text) { #expect(refusal == "Must have at least one visible character.") }
    }

    @Test(
        "are not those of any script, with the joiners that it needs",
        arguments: [
            "Ann", "Åsa Ö", "李小龍", "שרה", "محمد", "می\u{200C}خواهم", "क्\u{200D}ष", "නි\u{200D}මල්", "ᏣᎳᎩ", "Ελένη", "Аня",
            "José-María O'Hara",
            "e\u{301}", "!", "7",
        ])
    func scripts(_ text: String) { #expect(refusals(text) == [nil, nil, nil, nil]) }

    @Test(
        "are not emoji, however they are made",
        arguments: [
            "👩‍👩‍👧", "❤️", "❤", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "Ann 🏴󠁧󠁢󠁥󠁮󠁧󠁿🏴󠁧󠁢󠁷󠁬󠁳󠁿!", "🏴", "🏴‍☠️", "🇩🇪", "1️⃣", "👍🏽", "🏳️‍🌈", "👨🏿‍❤️‍💋‍👨🏻", "©️",
        ])
    func emoji(_ text: String) throws {
        #expect(refusals(text) == [nil, nil, nil, nil])
        #expect(try Array(DisplayName(text: text).text.utf8) == Array(text.utf8))
    }

    @Test(
        "are not those of erased accounts",
        arguments: [
            "Deleted user", "deleted  USER", "Ｄｅｌｅｔｅｄ user", "Deleted\u{A0}user", "De\u{200B}leted user",
            "Dеleted uѕer",
            "Dele\u{AD}ted user\u{2800}", "Deleted user\u{2800}",
        ])
    func erased(_ text: String) throws {
        #expect(throws: Invalid.self) { try DisplayName(text: text) }
        // The title of a room does not mislead about the sender.
        #expect(try Title(text: text.showable, characterCountMax: 128).text.isEmpty == false)
    }

    @Test(
        "have invisible characters where a script needs them",
        arguments: [
            // Persian, Urdu, Kurdish and Arabic: joiners between letters, also behind their marks.
            "علی\u{200C}رضا", "می\u{200C}رود", "خانه\u{200C}ای", "مُ\u{200C}ن", "ه\u{200D}ا", "بە\u{200C}رێز",
            // N'Ko, Syriac, Adlam.
            "\u{7D3}\u{200D}\u{7D3}", "\u{712}\u{200C}\u{712}", "\u{1E922}\u{200D}\u{1E923}",
            // Devanagari, Bengali, Kannada, Sinhala; Malayalam at the end of a word, too.
            "क्\u{200C}ष", "शर्\u{200D}मा", "র\u{200D}্যাব", "ರ\u{200D}್ಕ", "ශ්\u{200D}රී ලංකා", "ക്\u{200D}ഷ",
            "മോഹന്\u{200D}", "മോഹന്\u{200D} ദാസ്",
            // Khmer: registers, and spaces between words that nobody sees, as in Thai, Lao and Burmese.
            "ប\u{200C}៉ា", "ភាសា\u{200B}ខ្មែរ", "ภาษา\u{200B}ไทย", "မြန်မာ\u{200B}စာ",
            // Mongolian: variants of letters, and the separator of vowels.
            "\u{182D}\u{180B}\u{1820}", "\u{182C}\u{180E}\u{1820}",
            // Variants of ideographs, as in Japanese names.
            "葛\u{E0100}城", "辻\u{E0101}さん", "神\u{FE00}",
        ])
    func neededJoiners(_ text: String) { #expect(refusals(text) == [nil, nil, nil, nil]) }

    @Test(
        "have none elsewhere",
        arguments: [
            "A\u{34F}nn", "A\u{FE0F}nn", "A\u{200D}B", "A\u{200C}B", "Ann\u{200D}", "\u{200D}Ann", "\u{FFF9}x",
            "x\u{FFFA}",
            "x\u{FFFB}y", "\u{200B}A", "A\u{AD}b", "A\u{2060}b", "A\u{FEFF}b", "A\u{3164}b", "A\u{115F}b", "A\u{17B4}b",
            "A\u{180E}b", "A\u{180B}", "A\u{E0100}", "A\u{FE00}", "1\u{FE0F}", "1\u{FE0F}2", "A\u{2063}b",
            "A\u{1D173}b", "A\u{206A}b",
            "א\u{200D}ב", "Аня\u{200C}", "李\u{200D}小", "한\u{200B}국",
            // Beside a letter of another script, twice, at the end of a word.
            "ع\u{200D}A", "A\u{200C}ع", "می\u{200C}\u{200C}رود", "علی\u{200C}", "علی\u{200C} رضا", "❤\u{FE0F}\u{FE0F}",
            "👩\u{200D}", "👩\u{200D}A", "A\u{200D}👩", "👩\u{200D}\u{200D}👩", "葛\u{E0100}\u{E0101}",
        ])
    func strayJoiners(_ text: String) {
        for refusal in refusals(text) {
            #expect(refusal?.contains("an invisible character, in this place") == true, "\(refusal ?? "accepted")")
        }
    }

    @Test("have at most four marks on a letter")
    func marks() {
        let marks = { (count: Int) in String(repeating: "\u{330}", count: count) }
        #expect(refusals("x\(marks(4))y\(marks(4))") == [nil, nil, nil, nil])
        // Joiners and spacing marks do not begin a letter.
        for text in ["x\(marks(5))", "x\(marks(60))", "क\(marks(3))\u{93E}\(marks(2))", "\u{94D}ी\(marks(5))क"] {
            for refusal in refusals(text) {
                #expect(
                    refusal == "Must have at most 4 marks, such as accents, on a letter.", "\(refusal ?? "accepted")")
            }
        }
        // Vietnamese, Hebrew with all its points, Arabic, Tibetan, Burmese, Thai, an accent that has no composed letter.
        for text in ["Nguyễn Ệ", "בְּרֵאשִׁ֖ית", "مُحَمَّدٌ", "བསྒྲུབས", "ကြွှေ့", "น้ำผึ้ง", "m̥̄", "Ŝṩ"] {
            #expect(refusals(text) == [nil, nil, nil, nil], "\(text)")
        }
    }

    @Test("that only contain a reserved name may be chosen, such as “Deleted users”")
    func nearlyErased() throws {
        for text in ["Deleted", "Deleted users", "A deleted user"] { _ = try DisplayName(text: text) }
    }

    @Test("of the host app are cleaned")
    func showable() {
        #expect("A\u{202E}b\u{E0041}\n".showable == "A b  ")
        #expect("A\u{34F}n\u{200B}n\u{FFF9}".showable == "Ann")
        #expect("x\(String(repeating: "\u{330}", count: 60))".showable == "x\u{330}\u{330}\u{330}\u{330}")
        #expect("علی\u{200C}رضا 👩‍👧".showable == "علی\u{200C}رضا 👩‍👧")
        // What is left of a joiner's neighbours does not need it.
        #expect("A\u{FE0F}\u{200D}👩".showable == "A👩")
        #expect("🏴󠁧󠁢󠁳󠁣󠁴󠁿 \u{200F}x".showable == "🏴󠁧󠁢󠁳󠁣󠁴󠁿  x")
    }

    @Test(
        "reserved for the service may not be chosen, in any case; the operator may assign them",
        arguments: [
            "me", "Null", "ADMIN", "support", "root", "System", "parley", "everyone", "here", "no-reply",
            "Deleted_User",
        ])
    func reserved(_ text: String) throws {
        #expect(throws: Invalid.self) { try Username.chosen(.string(text)) }
        #expect(try Username(text: text).isReserved)
    }

    @Test("that only begin like those are free", arguments: ["meg", "admin2", "supporter", "rooted", "ann"])
    func unreserved(_ text: String) throws { #expect(try Username.chosen(.string(text)).text == text) }
}

@Suite("Keys of rooms", .timeLimit(.minutes(1)))
struct KeysOfRooms {
    private func key(_ text: String) -> String { RoomKey(text).text }

    @Test(
        "are equal for titles that people cannot distinguish",
        arguments: [
            "Room", " ROOM ", "Rооm", "Rοom", "Room\u{200B}", "R\u{AD}oom", "Ｒｏｏｍ", "\u{1D411}oom", "Room\u{2800}",
            "Room\u{FE0F}",
            "ℝoom", "Ro\u{34F}om",
        ])
    func alike(_ title: String) { #expect(key(title) == "room") }

    @Test("fold case and compatibility forms fully")
    func folds() {
        #expect(key("Straße") == key("STRASSE") && key("ΣΊΣΥΦΟΣ") == key("σίσυφος") && key("ﬁn") == "fin")
        #expect(key(" Book \u{2003} Club ") == "book club" && key("BOOK CLUB") == "book club")
        #expect(Array(key("CAFE\u{301}").unicodeScalars) == Array("caf\u{e9}".unicodeScalars))
        #expect(key("bookclub") != "book club")
    }

    @Test(
        "differ for words of different scripts, for flags, and for titles that look different",
        arguments: [
            ("сор", "cop"), ("Ооо", "Ooo"), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"), ("Room", "Roοms"), ("Room 1", "Room I"), ("é", "e"), ("李", "季"),
            ("🇩🇪", "🇫🇷"),
        ])
    func different(_ one: String, _ other: String) { #expect(key(one) != key(other)) }

    @Test("are their own keys, whatever characters they have")
    func idempotent() {
        // Ideographs and Hangul have neither case nor look-alikes, and are most of all characters.
        let ranges: [ClosedRange<UInt32>] = [0x20...0x33FF, 0xA000...0xABFF, 0xE000...0x16FFF, 0x1D000...0x1FFFF]
        for scalar in ranges.joined().compactMap(Unicode.Scalar.init) {
            let once = key("a\(scalar)")
            #expect(key(once) == once, "U+\(String(scalar.value, radix: 16))")
        }
    }

    @Test("fit into an index, however much a title grows")
    func bounded() {
        let title = String(repeating: "\u{FDFA}", count: 1_000)
        #expect((1_900...2_000).contains(key(title).utf8.count))
    }
}
