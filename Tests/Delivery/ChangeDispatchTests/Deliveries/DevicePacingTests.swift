import CloudKitModel
import Testing

@testable import ChangeDispatch

struct DevicePacingTests {
  private static let silent = DeliveryScheduleTests.deliveries(1...1)[0]
  private static let visible = DeliveryScheduleTests.deliveries(2...2, alert: "News")[0]

  private static func time(_ seconds: Int64) -> Timestamp {
    Timestamp(milliseconds: seconds * 1_000)
  }

  @Test("a silent push waits for its turn after the one before; visible ones do not")
  func silentInterval() {
    var pacing = DevicePacing(silentInterval: 60, capacity: 10)
    #expect(pacing.postponement(of: Self.silent, at: Self.time(100)) == nil)
    #expect(pacing.postponement(of: Self.silent, at: Self.time(110))?.until == Self.time(160))
    #expect(pacing.postponement(of: Self.visible, at: Self.time(110)) == nil)
    #expect(pacing.postponement(of: Self.silent, at: Self.time(160)) == nil)
    let other = DeliveryScheduleTests.deliveries(3...3, token: "bb")[0]
    #expect(pacing.postponement(of: other, at: Self.time(161)) == nil)
  }

  @Test("without an interval silent pushes go at once and nothing is remembered")
  func noInterval() {
    var pacing = DevicePacing(silentInterval: 0, capacity: 10)
    #expect(pacing.postponement(of: Self.silent, at: Self.time(1)) == nil)
    #expect(pacing.postponement(of: Self.silent, at: Self.time(1)) == nil)
    #expect(pacing.count == 0)
  }

  @Test("a device that is left alone gets nothing until then, and other devices do")
  func hold() {
    var pacing = DevicePacing(silentInterval: 0, capacity: 10)
    pacing.hold("aa", until: Self.time(50), at: Self.time(10))
    pacing.hold("aa", until: Self.time(30), at: Self.time(11))
    #expect(pacing.postponement(of: Self.visible, at: Self.time(20))?.until == Self.time(50))
    #expect(pacing.postponement(of: Self.visible, at: Self.time(50)) == nil)
    let other = DeliveryScheduleTests.deliveries(3...3, token: "bb")[0]
    #expect(pacing.postponement(of: other, at: Self.time(20)) == nil)
  }

  @Test("no more devices are remembered than the capacity; those that are past make room")
  func capacity() {
    var pacing = DevicePacing(silentInterval: 60, capacity: 2)
    for (number, token) in ["a", "b", "c"].enumerated() {
      let delivery = DeliveryScheduleTests.deliveries(1...1, token: token)[0]
      #expect(pacing.postponement(of: delivery, at: Self.time(Int64(10 + number))) == nil)
    }
    #expect(pacing.count == 2)
    let unpaced = DeliveryScheduleTests.deliveries(1...1, token: "c")[0]
    #expect(pacing.postponement(of: unpaced, at: Self.time(12)) == nil)
    #expect(pacing.postponement(of: unpaced, at: Self.time(90)) == nil)
    #expect(pacing.count == 1)
    #expect(pacing.postponement(of: unpaced, at: Self.time(91))?.until == Self.time(150))
  }
}
