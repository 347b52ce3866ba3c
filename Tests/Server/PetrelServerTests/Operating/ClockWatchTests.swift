import CloudKitModel
import Testing

@testable import PetrelServer

struct ClockWatchTests {
  @Test("what is old is not deleted by a clock that was set forward by more than an hour")
  func forward() {
    let (start, steady) = (Timestamp(milliseconds: 1_700_000_000_000), ContinuousClock.now)
    let watch = ClockWatch(at: start, steady: steady)
    for hours in [0, 1, 24, 8_760] as [Double] {
      let later = steady + .seconds(hours * 3_600)
      let now = start.advanced(bySeconds: hours * 3_600)
      #expect(watch.mayTrim(at: now, steady: later))
      #expect(watch.mayTrim(at: now.advanced(bySeconds: 3_500), steady: later))
      #expect(watch.mayTrim(at: now.advanced(bySeconds: -86_400), steady: later))
      for jump in [3_700, 86_400, 2_592_000] as [Double] {
        #expect(!watch.mayTrim(at: now.advanced(bySeconds: jump), steady: later))
        #expect(abs(watch.jump(at: now.advanced(bySeconds: jump), steady: later) - jump) < 0.01)
      }
    }
  }
}
