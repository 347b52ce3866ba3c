import Foundation
import JSONCoding
import PropertyTesting
import Testing

struct JSONNodeTests {
  private func root(_ text: String) throws -> JSONNode {
    try JSONDocument(parsing: Data(text.utf8)).root
  }

  @Test("Members are found by their names, and those that are missing or null are nil")
  func members() throws {
    let root = try root(#"{"a":1,"b":null,"c":{"d":[true]},"é\n":"x"}"#)
    #expect(root["a"]?.int == 1)
    #expect(root["b"] == nil)
    #expect(root.member("b")?.isNull == true)
    #expect(root.member("x") == nil)
    #expect(root["c"]?["d"]?.elements?.first?.bool == true)
    #expect(root["é\n"]?.string == "x")
    #expect(root["a"]?["a"] == nil)
    #expect(root.count == 4)
    #expect(root["c"]?["d"]?.count == 1)
  }

  @Test("Single values are what they are as values", arguments: Seeds.some(40))
  func singleValues(seed: Int) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let text = JSONText.random(depth: 0, &generator)
      let node = try root(text)
      let value = node.value
      #expect(node.string == value.string, "\(text)")
      #expect(node.int == value.int, "\(text)")
      #expect(node.double == value.double, "\(text)")
      #expect(node.bool == value.bool, "\(text)")
      #expect(node.kind == value.kind, "\(text)")
      #expect(node.elements == nil, "\(text)")
    }
  }

  @Test("Every value's path leads to it from the root", arguments: Seeds.some(40))
  func paths(seed: Int) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<5 {
      let text = JSONText.random(depth: 4, &generator)
      try check(try root(text), path: "", text)
    }
  }

  private func check(_ node: JSONNode, path: String, _ text: String) throws {
    #expect(node.path == path, "\(text)")
    for (index, element) in (node.elements ?? []).enumerated() {
      try check(element, path: "\(path)[\(index)]", text)
    }
    try node.forEachMember { (name, member) throws in
      try check(member, path: path.isEmpty ? name : "\(path).\(name)", text)
    }
  }
}

struct FoundationParsingTests {
  @Test("Texts mean what they mean to Foundation", arguments: Seeds.some(100))
  func values(seed: Int) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let text = JSONText.random(depth: 4, &generator)
      let expected = try #require(plain(Data(text.utf8)), "\(text)")
      #expect(isSame(try JSONValue(parsing: text), expected), "\(text)")
    }
  }

  @Test(
    "Damaged texts are refused or mean what they mean to Foundation", arguments: Seeds.some(100))
  func damagedTexts(seed: Int) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<40 {
      var bytes = Array(JSONText.random(depth: 3, &generator).utf8)
      for _ in 0..<Int.random(in: 1...2, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[place] = generator.pick(Array("{}[]\",:\\0-.eu \u{1}tn\u{FF}".utf8))
        case 1 where bytes.count > 1: bytes.remove(at: place)
        default: bytes.insert(bytes[place], at: place)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      guard let value = try? JSONValue(parsing: Data(bytes)) else { continue }
      let expected = try #require(plain(Data(bytes)), "\(text)")
      #expect(isSame(value, expected), "\(text)")
    }
  }

  private func plain(_ data: Data) -> Any? {
    try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
  }

  private func isSame(_ value: JSONValue, _ foundation: Any) -> Bool {
    switch value {
    case .null:
      return foundation is NSNull
    case .string(let string):
      return (foundation as? String).map { $0.utf8.elementsEqual(string.utf8) } ?? false
    case .array(let elements):
      guard let others = foundation as? [Any], others.count == elements.count else { return false }
      return zip(elements, others).allSatisfy { isSame($0, $1) }
    case .object(let members):
      guard let others = foundation as? [String: Any], others.count == members.count else {
        return false
      }
      return members.allSatisfy { name, member in others[name].map { isSame(member, $0) } ?? false }
    case .bool(let bool):
      return (foundation as? NSNumber)?.boolValue == bool
    case .int(let int):
      return (foundation as? NSNumber)?.int64Value == int
    case .double(let double):
      // Foundation's own conversion of decimals is not exact.
      guard let other = (foundation as? NSNumber)?.doubleValue else { return false }
      return other == double || abs(other - double) <= abs(double) * 1e-14
    }
  }
}

/// JSON texts as people and programs write them: with spaces, escapes and numbers of all forms.
enum JSONText {
  static func random(depth: Int, _ generator: inout SeededGenerator) -> String {
    let width = Int.random(in: 0...4, using: &generator)
    switch Int.random(in: 0..<(depth > 0 ? 7 : 4), using: &generator) {
    case 0: return generator.pick(["null", "true", "false"])
    case 1: return number(&generator)
    case 2, 3: return string(&generator)
    case 4:
      let elements = (0..<width).map { _ in
        space(&generator) + random(depth: depth - 1, &generator) + space(&generator)
      }
      return "[" + elements.joined(separator: ",") + "]"
    default:
      // Each name once, for a repeated name is refused.
      let members = (0..<width).map { index in
        space(&generator) + "\"\(index)" + string(&generator).dropFirst() + space(&generator)
          + ":" + space(&generator) + random(depth: depth - 1, &generator)
      }
      return "{" + members.joined(separator: ",") + space(&generator) + "}"
    }
  }

  private static func number(_ generator: inout SeededGenerator) -> String {
    var text = generator.chance(1, in: 2) ? "-" : ""
    let count = generator.pick([1, 2, 9, 17, 18, 19, 20, 30])
    text += generator.chance(1, in: 4) ? "0" : "1" + digits(count - 1, &generator)
    if generator.chance(1, in: 2) { text += "." + digits(generator.pick([1, 3, 16]), &generator) }
    if generator.chance(1, in: 3) {
      text += generator.pick(["e", "E", "e+", "e-"]) + digits(generator.pick([1, 2]), &generator)
    }
    return text
  }

  private static func digits(_ count: Int, _ generator: inout SeededGenerator) -> String {
    String((0..<count).map { _ in Character("\(Int.random(in: 0...9, using: &generator))") })
  }

  private static func string(_ generator: inout SeededGenerator) -> String {
    let parts = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
      generator.pick([
        "a", "Suva", "é", "🌋", "e\u{301}", #"\n"#, #"\""#, #"\\"#, #"\/"#, #"\u0041"#, #"\u00e9"#,
        #"\ud83c\udf0b"#, #"\u0000"#, " ", "{", "]",
      ])
    }
    return "\"" + parts.joined() + "\""
  }

  private static func space(_ generator: inout SeededGenerator) -> String {
    generator.pick(["", "", "", " ", "\n", "\t\r "])
  }
}
