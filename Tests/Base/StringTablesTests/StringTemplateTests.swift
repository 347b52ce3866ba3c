import Foundation
import PropertyTesting
import Testing

@testable import StringTables

struct StringTemplateTests {
  @Test(
    "placeholders take their arguments",
    arguments: [
      ("%@ near %@", "6.4 near Suva"), ("%2$@: %1$@", "Suva: 6.4"), ("100%% of %@", "100% of 6.4"),
      ("%%@", "%@"), ("%2$@ %@ %1$@ %@", "Suva 6.4 6.4 Suva"), ("no placeholder", "no placeholder"),
    ])
  func fills(template: String, text: String) {
    #expect(StringTemplate.fill(template, with: ["6.4", "Suva"]) == text)
  }

  @Test(
    "a placeholder without an argument is empty, and an argument without a placeholder is not shown"
  )
  func otherCounts() {
    #expect(StringTemplate.fill("[%@][%@][%3$@]", with: ["a"]) == "[a][][]")
    #expect(StringTemplate.fill("[%0$@][%99999999999999999999$@]", with: ["a"]) == "[][]")
    #expect(StringTemplate.fill("[%@]", with: ["a", "b"]) == "[a]")
    #expect(StringTemplate.fill("[%2$@]", with: ["a", "b"]) == "[b]")
  }

  @Test(
    "a number's placeholder takes its argument as it stands",
    arguments: ["%d", "%ld", "%lld", "%.1f", "%1$lld", "%5.2f", "%s", "%04x"])
  func numbers(placeholder: String) {
    #expect(StringTemplate.fill("<\(placeholder)>", with: ["6.4"]) == "<6.4>")
  }

  @Test(
    "a percent sign that begins no placeholder stays",
    arguments: ["50 % discount", "100%", "%", "%y", "100 %, sure", "%1$", "% @"])
  func stays(text: String) {
    #expect(StringTemplate.fill(text, with: ["6.4"]) == text)
  }

  @Test("an argument is not read as a template")
  func argumentsAsTheyAre() {
    #expect(StringTemplate.fill("%@ %@", with: ["%@ %2$@ %%", "b"]) == "%@ %2$@ %% b")
  }

  @Test("any mixture of %@, %n$@ and %% becomes what String(format:) makes of it")
  func asFoundation() {
    for seed in Seeds.some(2000) {
      var random = SeededGenerator(seed: seed)
      let count = Int.random(in: 1...5, using: &random)
      let arguments = (0..<count).map { _ in
        random.pick(["", "a", "é\u{301}", "%@", "100%", "😀", "Nukuʻalofa", "\u{301}", "$@"])
      }
      var (template, sequential, unused) = ("", 0, Set(1...count))
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        switch Int.random(in: 0..<4, using: &random) {
        // Foundation reads beyond the arguments where there are too few.
        case 0 where sequential < count:
          template += "%@"
          sequential += 1
          unused.remove(sequential)
        case 1:
          let position = Int.random(in: 1...count, using: &random)
          template += "%\(position)$@"
          unused.remove(position)
        case 2: template += "%%"
        default: template += random.pick([" ", "x", "\u{301}", "\r\n", "@", "1$@", "😀", "d", "\""])
        }
      }
      // As C's printf, Foundation counts arguments by the placeholders that use them: of a text that
      // passes one over it makes something else.
      for position in unused { template += "%\(position)$@" }
      #expect(
        StringTemplate.fill(template, with: arguments)
          == String(format: template, arguments: arguments), "seed \(seed): \(template)")
    }
  }
}
