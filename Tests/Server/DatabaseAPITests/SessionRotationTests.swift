import CloudKitModel
import PropertyTesting
import StoreModel
import Testing

@testable import DatabaseAPI

struct SessionRotationTests {
  private func time(_ seconds: Double) -> Timestamp {
    Timestamp(milliseconds: 1_700_000_000_000).advanced(bySeconds: seconds)
  }

  private func token(isUsed: Bool = false, lifetime: Double = 1800) -> WebAuthToken {
    WebAuthToken(
      hash: [1], userRecordName: "_a", created: time(0), expires: time(lifetime),
      session: WebAuthToken.Session(
        id: [1], container: "iCloud.a", environment: .production, lifetime: lifetime,
        isUsed: isUsed))
  }

  @Test("The first request is noted, one after a minute gets a successor, and no other writes")
  func steps() {
    var rotation = SessionRotation()
    let fresh = token()
    #expect(
      rotation.handle(.request(fresh, now: time(1)))
        == .write(adopts: true, makesSuccessor: false))
    #expect(rotation.handle(.request(fresh, now: time(1))) == .nothing)
    #expect(rotation.handle(.done(successor: nil)) == .nothing)
    #expect(rotation.handle(.request(fresh, now: time(59))) == .nothing)
    #expect(
      rotation.handle(.request(fresh, now: time(60)))
        == .write(adopts: false, makesSuccessor: true))
    _ = rotation.handle(.done(successor: .init(text: "next", created: time(60))))
    #expect(rotation.successor?.text == "next")
    #expect(rotation.handle(.request(fresh, now: time(509))) == .nothing)
    #expect(
      rotation.handle(.request(fresh, now: time(510)))
        == .write(adopts: false, makesSuccessor: true))
  }

  @Test("A first request that comes late does both in one write; what failed is tried again")
  func late() {
    var rotation = SessionRotation()
    #expect(
      rotation.handle(.request(token(), now: time(70)))
        == .write(adopts: true, makesSuccessor: true))
    _ = rotation.handle(.failed)
    #expect(
      rotation.handle(.request(token(), now: time(70)))
        == .write(adopts: true, makesSuccessor: true))
    var other = SessionRotation()
    #expect(other.handle(.request(token(isUsed: true), now: time(30))) == .nothing)
  }

  @Test("Native clients' tokens never give way")
  func native() {
    var rotation = SessionRotation()
    var native = token()
    native.session = nil
    #expect(rotation.handle(.request(native, now: time(1000))) == .nothing)
  }

  @Test("However often a token is used, its writes are few")
  func bound() {
    for seed in Seeds.some(30) {
      var random = SeededGenerator(seed: seed)
      var rotation = SessionRotation()
      let lifetime = random.chance(1, in: 2) ? 1800.0 : 1_209_600
      let used = token(lifetime: lifetime)
      var writes = 0
      var now = 0.0
      while now < lifetime {
        if case .write(let adopts, let makesSuccessor) = rotation.handle(
          .request(used, now: time(now)))
        {
          writes += 1
          #expect(adopts == (writes == 1), "seed \(seed)")
          _ = rotation.handle(
            .done(
              successor: makesSuccessor ? .init(text: "\(writes)", created: time(now)) : nil))
        }
        if now > 61 { #expect(rotation.successor != nil, "seed \(seed) at \(now)") }
        now += Double(Int.random(in: 0...Int(lifetime / 300), using: &random))
        if random.chance(1, in: 50) { now += 1 }
      }
      #expect(writes <= 6, "seed \(seed)")
    }
  }
}
