import Foundation
import JSONCoding
import PropertyTesting
import Testing

struct JSONLinesTests {
  @Test("lines are those on which the names of a text stand, for any text")
  func property() throws {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<300 {
      var expected: [[String]: Int] = [:]
      var text = ""
      var line = 1
      func space() {
        for _ in 0..<Int.random(in: 0...2, using: &generator) {
          let isBreak = Bool.random(using: &generator)
          text += isBreak ? "\n" : " "
          if isBreak { line += 1 }
        }
      }
      func write(_ path: [String]?, _ depth: Int) {
        space()
        switch Int.random(in: 0...(depth > 0 ? 4 : 2), using: &generator) {
        case 0: text += ["1", "-2.5e3", "true", "null"].randomElement(using: &generator) ?? ""
        case 1, 2:
          text += [#""a""#, #""\"}\\""#, #""]{,:""#].randomElement(using: &generator) ?? ""
        case 3:
          text += "["
          let count = Int.random(in: 0...2, using: &generator)
          for place in 0..<count {
            write(nil, depth - 1)
            space()
            if place < count - 1 { text += "," }
          }
          space()
          text += "]"
        default:
          text += "{"
          let count = Int.random(in: 0...3, using: &generator)
          for place in 0..<count {
            space()
            let name = place == 1 ? "q\"\\" : "k\(place)"
            if let path { expected[path + [name]] = line }
            text += JSONValue.string(name).text
            space()
            text += ":"
            write(path.map { $0 + [name] }, depth - 1)
            space()
            if place < count - 1 { text += "," }
          }
          space()
          text += "}"
        }
      }
      write([], 3)
      _ = try JSONValue(parsing: text)
      #expect(JSONLines(Data(text.utf8)).lines == expected, "\(text)")
    }
  }
}
