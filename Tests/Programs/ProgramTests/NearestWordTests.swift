import PropertyTesting
import Spelling
import Testing

@testable import petrel

struct NearestWordTests {
  /// The same by its definition, without a table.
  private static func plain(_ from: ArraySlice<Character>, _ to: ArraySlice<Character>) -> Int {
    guard let first = from.first else { return to.count }
    guard let other = to.first else { return from.count }
    var least = min(
      plain(from.dropFirst(), to) + 1, plain(from, to.dropFirst()) + 1,
      plain(from.dropFirst(), to.dropFirst()) + (first == other ? 0 : 1))
    if from.count > 1, to.count > 1, from.dropFirst().first == other,
      to.dropFirst().first == first
    {
      least = min(least, plain(from.dropFirst(2), to.dropFirst(2)) + 1)
    }
    return least
  }

  @Test("changes are counted as their definition says, both ways alike")
  func changes() {
    for seed in Seeds.some(300) {
      var random = SeededGenerator(seed: seed)
      let words = (0..<2).map { _ in
        String((0..<Int.random(in: 0...6, using: &random)).map { _ in random.pick("abc") })
      }
      let count = NearestWord.changes(from: words[0], to: words[1])
      #expect(count == Self.plain(Array(words[0])[...], Array(words[1])[...]), "\(words)")
      #expect(count == NearestWord.changes(from: words[1], to: words[0]), "\(words)")
    }
  }

  @Test("one slip in a command's name leads back to it")
  func slips() {
    let names = Program.petrel.commands.map { $0.name }
    for (seed, name) in names.enumerated() where name.count > 4 {
      var random = SeededGenerator(seed: seed)
      var letters = Array(name)
      let place = Int.random(in: 1..<letters.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: letters.remove(at: place)
      case 1: letters.insert("q", at: place)
      default: letters.swapAt(place - 1, place)
      }
      let found = NearestWord.among(names, to: String(letters))
      let changes = found.map { NearestWord.changes(from: String(letters), to: $0) }
      #expect(
        changes.map { $0 <= 1 || found?.hasPrefix(String(letters)) == true } == true, "\(name)")
    }
  }
}
