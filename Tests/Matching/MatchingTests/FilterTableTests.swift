import CloudKitModel
import Testing

@testable import Matching

struct FilterTableTests {
  private func filter(_ value: RecordValue) -> Filter { Filter(.field("a"), .equals, value) }

  @Test("equal filters have one number until all who use it have released it")
  func sharing() {
    var table = FilterTable(seed: 1)
    let first = table.use(filter(.string("x")))
    let other = table.use(filter(.string("y")))
    #expect(table.use(filter(.string("x"))) == first)
    #expect(other != first)
    #expect(table.count == 2)
    table.release(first)
    #expect(table[first].value == .string("x"))
    table.release(first)
    #expect(table.count == 1)
    #expect(table[other].value == .string("y"))
    #expect(table.freeCount == 1)
    let moved = Int32(table.renumber()[UInt32(other)])
    #expect(table.freeCount == 0 && moved == 0)
    #expect(table[moved].value == .string("y"))
    #expect(table.use(filter(.string("y"))) == moved)
    #expect(table.use(filter(.string("z"))) != moved)
  }

  @Test("composed and decomposed accents are two filters, and a NaN is the same as itself")
  func identity() {
    var table = FilterTable(seed: 1)
    let composed = table.use(filter(.string("caf\u{E9}")))
    #expect(table.use(filter(.string("cafe\u{301}"))) != composed)
    let number = table.use(filter(.double(.nan)))
    #expect(table.use(filter(.double(.nan))) == number)
    #expect(table.use(filter(.double(-0.0))) != table.use(filter(.double(0.0))))
  }
}
