import Foundation
import PropertyTesting
import Testing

@testable import CloudKitModel

struct StreamSafeTextTests {
  private static let marks: [Unicode.Scalar] = [
    "\u{300}", "\u{301}", "\u{323}", "\u{344}", "\u{345}", "\u{E38}", "\u{E48}", "\u{F71}",
    "\u{F73}", "\u{F75}", "\u{F81}", "\u{3099}", "\u{1D165}",
  ]

  @Test(
    "Thirty marks in a row are safe and thirty-one are not, whatever the marks", arguments: marks)
  func limit(mark: Unicode.Scalar) {
    func text(_ count: Int) -> String {
      "e" + String(repeating: Character(mark), count: count) + "e"
    }
    #expect(text(30).isStreamSafe)
    #expect(!text(31).isStreamSafe)
    #expect((text(30) + text(30)).isStreamSafe)
    #expect(text(30).streamSafe.utf8.elementsEqual(text(30).utf8))
  }

  @Test("Texts of letters are safe however long they are")
  func letters() {
    for unit in ["a", "é", "e\u{301}", "漢", "한", "\u{1100}\u{1161}\u{11A8}", "🇩🇪", "👩\u{200D}"] {
      #expect(String(repeating: unit, count: 1_000).isStreamSafe, "\(unit)")
    }
  }

  @Test(
    "A text made safe is safe, and keeps all its characters in their order",
    arguments: Seeds.some(50))
  func making(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    var scalars = String.UnicodeScalarView()
    for _ in 0..<40 {
      let mark = generator.pick(Self.marks)
      for _ in 0..<generator.pick([1, 3, 29, 30, 31, 61, 200]) {
        scalars.append(generator.chance(1, in: 4) ? generator.pick(Self.marks) : mark)
      }
      if generator.chance(1, in: 2) { scalars.append("e") }
    }
    let text = String(scalars)
    let safe = text.streamSafe
    #expect(safe.isStreamSafe)
    #expect(safe.unicodeScalars.filter { $0 != "\u{34F}" }.elementsEqual(scalars))
  }

  @Test(
    "Folding a text piece by piece gives what folding it whole gives", arguments: Seeds.some(40))
  func pieces(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    for rawValue in UInt8(1)...3 {
      let options = Filter.Options(rawValue: rawValue)
      var scalars = String.UnicodeScalarView()
      for _ in 0..<120 {
        let range: ClosedRange<UInt32> = generator.pick([
          0x20...0x7A, 0xC0...0x24F, 0x300...0x30F, 0x370...0x4FF, 0x590...0x6FF, 0x900...0xDFF,
          0xE00...0xE7F, 0xF40...0xFBC, 0x1000...0x109F, 0x1100...0x11FF, 0x1B00...0x1B7F,
          0x1E00...0x1FFF, 0x3041...0x30FF, 0xAC00...0xAC40, 0xFB00...0xFDFF, 0x1F468...0x1F469,
          0x200C...0x200D, 0x110B0...0x110BF, 0x1D15E...0x1D170,
        ])
        if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)) {
          scalars.append(scalar)
        }
      }
      let text = String(scalars)
      let whole = options.fold(text, pieceSize: .max / 4)
      // A piece is cut anywhere only after as many characters as no run here has.
      let inPieces = options.fold(text, pieceSize: 64)
      #expect(
        whole.utf8.elementsEqual(inPieces.utf8), "\(scalars.map { String($0.value, radix: 16) })")
    }
  }

  @Test(
    "ASCII is folded as Foundation folds it",
    arguments: [
      Filter.Options.caseInsensitive, .diacriticInsensitive,
      [.caseInsensitive, .diacriticInsensitive],
    ])
  func asciiFolding(options: Filter.Options) {
    var comparison: String.CompareOptions = []
    if options.contains(.caseInsensitive) { comparison.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { comparison.insert(.diacriticInsensitive) }
    var generator = SeededGenerator(seed: 1)
    let scalars = (0..<0x80).compactMap { Unicode.Scalar($0 as Int) }
    var texts = scalars.map { String($0) }
    for count in [0, 2, 15, 16, 17, 1_000, 5_000] {
      texts.append(String((0..<count).map { _ in Character(generator.pick(scalars)) }))
    }
    for text in texts {
      let expected = text.folding(options: comparison, locale: nil)
      #expect(options.fold(text).utf8.elementsEqual(expected.utf8), "\(Array(text.utf8))")
    }
  }

  @Test("Folded texts may be hashed: they are stream-safe", arguments: marks)
  func folded(mark: Unicode.Scalar) {
    for rawValue in UInt8(1)...3 {
      let text = "e" + String(repeating: Character(mark), count: 5_000)
      #expect(Filter.Options(rawValue: rawValue).fold(text).isStreamSafe)
    }
    #expect(
      TextTokens("\u{E01}" + String(repeating: Character(mark), count: 5_000)).tokens.count == 1)
  }

  @Test("Values are equal byte for byte")
  func values() {
    let composed = RecordValue.string("\u{E9}")
    let decomposed = RecordValue.string("e\u{301}")
    #expect(composed != decomposed)
    #expect(composed == .string("\u{E9}"))
    #expect(Set([composed, decomposed, .string("\u{E9}")]).count == 2)
    #expect(RecordValue.list(of: .string, [composed]) != .list(of: .string, [decomposed]))
    #expect(RecordValue.int64(1) != .double(1))
  }

  @Test("Values that are equal hash alike", arguments: Seeds.some(50))
  func hashes(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let left = generator.value()
      let right = generator.value()
      if left == right { #expect(left.hashValue == right.hashValue) }
      // A NaN equals nothing.
      if !"\(left)".contains("nan") { #expect(Set([left, left]).count == 1) }
    }
  }
}
