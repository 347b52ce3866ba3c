import CommandInterface
import Testing

struct CountingTests {
  @Test("one thing is told as one, none and several as several")
  func counting() {
    #expect([0, 1, 2].map { $0.counting("record") } == ["0 records", "1 record", "2 records"])
    #expect(
      [0, 1, 2].map { $0.counting("entry", "entries") } == ["0 entries", "1 entry", "2 entries"])
  }
}
