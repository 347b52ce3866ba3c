import Testing

@testable import Matching

struct SharedTests {
  private struct Large: Sendable {
    var table = [1, 2, 3]

    func sum() -> Int { table.reduce(0, +) }
  }

  @Test("a value is read where it lies, by any number of tasks at once")
  func reading() async {
    let values = [Shared(Large()), Shared(Large(table: [4, 5]))]
    let sums = await withTaskGroup(of: Int.self) { group in
      for number in 0..<64 {
        group.addTask { values[number % 2].read { $0.sum() } }
      }
      return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
    #expect(sums == [6: 32, 9: 32])
  }

  @Test("a copy does not see what becomes of the original, nor the original what becomes of it")
  func copies() {
    var original = Shared(Large())
    var copy = original
    original.value.table.append(4)
    copy.value.table.append(50)
    #expect(original.read { $0.sum() } == 10)
    #expect(copy.read { $0.sum() } == 56)
  }

  @Test("what nobody shares is changed where it lies")
  func changes() {
    func address(_ shared: Shared<Large>) -> UnsafeRawPointer? {
      shared.read { large in large.table.withUnsafeBytes { $0.baseAddress } }
    }
    var shared = Shared(Large())
    shared.value.table.reserveCapacity(100)
    let before = address(shared)
    for number in 0..<90 { shared.value.table.append(number) }
    #expect(address(shared) == before)
    #expect(shared.read { $0.table.count } == 93)
  }
}
