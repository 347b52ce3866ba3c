import Foundation
import Testing

@testable import StringTables

private let sampleCatalog = """
  { "version": "1.0", "sourceLanguage": "en", "strings": {
    "NEW_%@": { "localizations": {
      "en": { "stringUnit": { "state": "translated", "value": "New: %@" } },
      "de": { "stringUnit": { "state": "needs_review", "value": "Neu: %@" } },
      "fr": { "stringUnit": { "state": "new", "value": "" } } } },
    "Hello": {},
    "Brand": { "shouldTranslate": false, "localizations": {
      "de": { "stringUnit": { "state": "translated", "value": "Marke" } } } },
    "%lld notes": { "localizations": {
      "en": { "variations": { "plural": {
        "one": { "stringUnit": { "state": "translated", "value": "%lld note" } },
        "other": { "stringUnit": { "state": "translated", "value": "%lld notes!" } } } } },
      "de": { "variations": { "device": {
        "iphone": { "stringUnit": { "state": "translated", "value": "Telefon" } },
        "other": { "variations": { "plural": {
          "other": { "stringUnit": { "state": "translated", "value": "%lld Notizen" } } } } } } } },
      "es": { "stringUnit": { "state": "translated", "value": "%#@count@" },
        "substitutions": { "count": { "argNum": 1, "formatSpecifier": "lld" } } } } } } }
  """

struct PetrelStringsTests {
  private func strings(
    _ files: [String: String], _ languages: String...
  ) throws -> PetrelStrings {
    let folder = try StringsFolder(files)
    return try PetrelStrings(contentsOf: folder.url, languages: languages)
  }

  @Test("a catalog gives the text of the language, and the source's where it is not translated")
  func catalog() throws {
    let files = ["Localizable.xcstrings": sampleCatalog]
    let german = try strings(files, "de-AT")
    #expect(german.text(forKey: "NEW_%@", arguments: ["Milch"]) == "Neu: Milch")
    #expect(german.text(forKey: "Hello") == "Hello")
    #expect(german.text(forKey: "Brand") == "Brand")
    #expect(german.text(forKey: "%lld notes", arguments: ["3"]) == "3 Notizen")
    #expect(german.text(forKey: "OTHER") == nil)
    let french = try strings(files, "fr")
    #expect(french.text(forKey: "NEW_%@", arguments: ["lait"]) == "New: lait")
    #expect(french.text(forKey: "%lld notes", arguments: ["1"]) == "1 notes!")
    let spanish = try strings(files, "es")
    #expect(spanish.text(forKey: "%lld notes", arguments: ["1"]) == "1 notes!")
  }

  @Test("a text is in the first language that has it")
  func languages() throws {
    let files = [
      "Base.lproj/Localizable.strings": "a = base; b = base; c = base;",
      "de.lproj/Localizable.strings": "a = de;", "fr.lproj/Localizable.strings": "a = fr; b = fr;",
      "pt_BR.lproj/Localizable.strings": "a = brazil;",
      "zh-Hant.lproj/Localizable.strings": "a = hant;", "zh.lproj/Localizable.strings": "a = zh;",
      "nl.lproj/Other.strings": "a = nl;", "README": "",
    ]
    func texts(_ languages: String...) throws -> [String?] {
      var strings = try strings(files)
      strings.languages = languages
      return ["a", "b", "c", "d"].map { strings.text(forKey: $0) }
    }
    #expect(try texts("de-AT", "fr") == ["de", "fr", "base", nil])
    #expect(try texts("de", "en") == ["de", "base", "base", nil])
    #expect(try texts("pt-BR") == ["brazil", "base", "base", nil])
    #expect(try texts("PT-br-x-y")[0] == "brazil")
    #expect(try texts("pt")[0] == "base")
    #expect(try texts("zh-TW")[0] == "hant")
    #expect(try texts("zh-Hant-HK")[0] == "hant")
    #expect(try texts("zh-CN")[0] == "zh")
    #expect(try texts("nl")[0] == "base")
    #expect(try texts() == ["base", "base", "base", nil])
    #expect(try texts("", "-", "*")[0] == "base")
    #expect(
      try strings(["en.lproj/Localizable.strings": "a = en;"], "sv").text(forKey: "a") == "en")
  }

  @Test(
    "a folder or file that cannot be used is said with its path and the rule",
    arguments: [
      (
        [:],
        ": has neither Localizable.xcstrings nor a folder such as en.lproj with Localizable.strings"
      ),
      (
        ["Localizable.xcstrings": sampleCatalog, "en.lproj/Localizable.strings": ""],
        ": has both Localizable.xcstrings and Localizable.strings; remove one of them"
      ),
      (
        ["de.lproj/Localizable.strings": "\na"],
        "/de.lproj/Localizable.strings:2: a ';' is missing behind 'a'"
      ),
      (["Localizable.xcstrings": "{}"], "/Localizable.xcstrings: 'sourceLanguage' is missing"),
      (
        [
          "Localizable.xcstrings":
            #"{"sourceLanguage": "en", "strings": {"k": {"localizations": {"de": {"stringUnit": {"value": 5}}}}}}"#
        ],
        "/Localizable.xcstrings: strings: k: localizations: de: stringUnit: value: "
      ),
      (["Localizable.xcstrings": "{\n\"a\": }"], "/Localizable.xcstrings: is not valid JSON: "),
    ] as [([String: String], String)])
  func mistakes(files: [String: String], description: String) throws {
    let folder = try StringsFolder(files.merging(["README": ""]) { first, _ in first })
    let url = folder.url
    let error = #expect(throws: PetrelStringsError.self) { try PetrelStrings(contentsOf: url) }
    #expect(
      error?.description.hasPrefix(url.path + description) == true, "\(error?.description ?? "")")
  }

  @Test("a folder that is not there is said to be none")
  func missing() {
    let error = #expect(throws: PetrelStringsError.self) {
      try PetrelStrings(contentsOf: URL(fileURLWithPath: "/nowhere"))
    }
    #expect(error?.description == "/nowhere: is not a folder that can be read")
  }

  @Test(
    "the user's languages are those of the environment",
    arguments: [
      (["LANG": "de_AT.UTF-8"], ["de-AT"]), (["LANG": "C.UTF-8", "LANGUAGE": "fr"], []), ([:], []),
      (["LANG": "de_AT", "LC_ALL": "", "LC_MESSAGES": "fr_FR@euro"], ["fr-FR"]),
      (["LANG": "en_US", "LC_ALL": "POSIX"], []),
      (["LANG": "de_AT", "LANGUAGE": "sv:en_GB:C"], ["sv", "en-GB", "de-AT"]),
    ] as [([String: String], [String])])
  func userLanguages(environment: [String: String], languages: [String]) {
    #expect(PetrelStrings.userLanguages(in: environment) == languages)
  }
}
