import CloudKitModel
import Foundation
import PropertyTesting
import Testing

struct FilterPropertyTests {
  private func filter(
    _ comparator: CloudKitModel.Comparator, _ generator: inout SeededGenerator
  ) -> Filter {
    let system = FieldKey.system(generator.pick(SystemField.allCases))
    return Filter(
      generator.pick([.field("f"), .field("f"), .field("f"), system, .allText]), comparator,
      generator.chance(1, in: 10) ? nil : generator.value(),
      distance: generator.chance(1, in: 2) ? 1_000 : nil,
      options: Filter.Options(rawValue: generator.pick([0, 0, 1, 2, 3])))
  }

  private func record(_ generator: inout SeededGenerator) -> Record {
    Record.sample(
      generator.chance(1, in: 10) ? [:] : ["f": generator.value(), "g": generator.value()])
  }

  @Test("A NOT_… form holds exactly when its positive form does not", arguments: Seeds.some(40))
  func negation(seed: Int) throws {
    var generator = SeededGenerator(seed: seed)
    for comparator in CloudKitModel.Comparator.allCases {
      guard let negation = comparator.negation else { continue }
      for _ in 0..<100 {
        let positive = filter(comparator, &generator)
        var negative = positive
        negative.comparator = negation
        let record = record(&generator)
        #expect(positive.matches(record) != negative.matches(record), "\(positive) \(record)")
      }
    }
  }

  @Test(
    "Without the field no positive form holds but EQUALS without a value", arguments: Seeds.some(10)
  )
  func absentField(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    for comparator in CloudKitModel.Comparator.allCases where !comparator.isNegated {
      for _ in 0..<30 {
        var filter = filter(comparator, &generator)
        filter.key = .field("f")
        let isNothing = comparator == .equals && filter.value == nil
        #expect(filter.matches(.sample()) == isNothing, "\(filter)")
      }
    }
  }

  @Test("IN and the list comparators agree with EQUALS on each element", arguments: Seeds.some(40))
  func elements(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      var single = filter(.equals, &generator)
      single.key = .field("f")
      guard case .list(_, let wanted)? = single.value else { continue }
      func matches(_ comparator: CloudKitModel.Comparator, _ value: RecordValue) -> Bool {
        var filter = single
        filter.comparator = comparator
        return filter.matches(.sample(["f": value]))
      }
      func equals(_ field: RecordValue, _ value: RecordValue) -> Bool {
        Filter(.field("f"), .equals, value, options: single.options)
          .matches(.sample(["f": field]))
      }
      let field = generator.value()
      let context = "\(field) \(single)"
      guard case .list(_, let present) = field else {
        #expect(
          matches(.isIn, field) == wanted.contains { equals(field, $0) }, "\(context)")
        continue
      }
      let isThere = wanted.map { value in present.contains { equals($0, value) } }
      #expect(matches(.listContainsAll, field) == isThere.allSatisfy { $0 }, "\(context)")
      #expect(matches(.listContainsAny, field) == isThere.contains(true), "\(context)")
    }
  }

  @Test(
    "Composed and decomposed texts fold to the same bytes, with any option",
    arguments: Seeds.some(20))
  func folding(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    for rawValue in UInt8(1)...3 {
      let options = Filter.Options(rawValue: rawValue)
      for _ in 0..<50 {
        var scalars = String.UnicodeScalarView()
        for _ in 0..<6 {
          let range: ClosedRange<UInt32> = generator.pick([
            0x41...0x7A, 0xC0...0x24F, 0x300...0x30F, 0x370...0x4FF, 0x1E00...0x1FBC,
            0x3041...0x309A, 0xAC00...0xAC40,
          ])
          let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator))
          if let scalar { scalars.append(scalar) }
        }
        let text = String(scalars)
        let composed = options.fold(text.precomposedStringWithCanonicalMapping)
        let decomposed = options.fold(text.decomposedStringWithCanonicalMapping)
        #expect(composed.utf8.elementsEqual(decomposed.utf8), "\(scalars.map(\.value))")
      }
    }
  }
}
