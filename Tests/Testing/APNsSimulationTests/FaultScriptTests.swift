import Testing

@testable import APNsSimulation

struct FaultScriptTests {
  @Test("a fault hits its device as often as asked, then the next one comes")
  func counted() {
    var script = FaultScript()
    script.add(.stall.times(2), for: "AA")
    script.add(.goAway.times(0), for: "aa")
    script.add(.disconnect.times(1), for: "aa")
    #expect(script.next(for: "bb") == nil)
    #expect(script.next(for: "aa") == .stall)
    #expect(script.next(for: "aa") == .stall)
    #expect(script.next(for: "aa") == .disconnect)
    #expect(script.next(for: "aa") == nil)
  }

  @Test("a fault for good stays until it is removed")
  func forGood() {
    var script = FaultScript()
    script.add(.stall, for: "aa")
    for _ in 0..<5 { #expect(script.next(for: "aa") == .stall) }
    script.remove(for: "AA")
    #expect(script.next(for: "aa") == nil)
  }

  @Test("a device's own fault comes before one for all")
  func forAll() {
    var script = FaultScript()
    script.add(.goAway.times(2), for: nil)
    script.add(.stall.times(1), for: "aa")
    #expect(script.next(for: "aa") == .stall)
    #expect(script.next(for: "aa") == .goAway)
    #expect(script.next(for: "bb") == .goAway)
    #expect(script.next(for: "bb") == nil)
    script.add(.goAway, for: nil)
    script.remove(for: nil)
    #expect(script.next(for: "bb") == nil)
  }
}
