import Testing

@testable import Matching

@Suite("Lending elements")
struct ArrayLendingTests {
  private struct Large: Sendable {
    var table = [1, 2, 3]
    mutating func sum() -> Int { table.reduce(0, +) }
  }

  @Test("an element is read where it lies, by any number of tasks at once")
  func reading() async {
    let elements = [Large(), Large(table: [4, 5])]
    let sums = await withTaskGroup(of: Int.self) { group in
      for number in 0..<64 {
        group.addTask { elements.lend(number % 2) { $0.sum() } }
      }
      return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
    #expect(sums == [6: 32, 9: 32])
  }
}
