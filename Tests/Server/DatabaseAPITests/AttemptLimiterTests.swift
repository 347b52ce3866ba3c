import CloudKitModel
import Testing

@testable import DatabaseAPI

struct AttemptLimiterTests {
  private let start = Timestamp(milliseconds: 1_000_000)

  /// The verdicts of attempts at these seconds.
  private func verdicts(
    _ limiter: inout AttemptLimiter, _ seconds: [Double], account: String = "anna",
    address: String = "1.1.1.1"
  ) -> [AttemptLimiter.Verdict] {
    seconds.map {
      limiter.begin(
        AttemptLimiter.subjects(account: account, address: address),
        at: start.advanced(bySeconds: $0))
    }
  }

  @Test("after five wrong passwords each further one waits twice as long, up to a minute")
  func backOff() {
    var limiter = AttemptLimiter()
    #expect(verdicts(&limiter, [0, 0, 0, 0, 0]) == Array(repeating: .allowed, count: 5))
    var time = 0.0
    for wait in [1.0, 2, 4, 8, 16, 32, 60, 60] {
      #expect(verdicts(&limiter, [time]) == [.wait(seconds: wait)])
      #expect(verdicts(&limiter, [time + wait - 0.5]) == [.wait(seconds: 0.5)])
      time += wait
      #expect(verdicts(&limiter, [time]) == [.allowed], "after \(wait)")
    }
  }

  @Test("an account is slowed down after fifty from wherever, and others are not")
  func byAccount() {
    var limiter = AttemptLimiter()
    for number in 1...50 {
      #expect(verdicts(&limiter, [0], address: "1.1.1.\(number)") == [.allowed])
    }
    #expect(verdicts(&limiter, [0], address: "9.9.9.9") == [.wait(seconds: 1)])
    #expect(verdicts(&limiter, [0], account: "ben") == [.allowed])
  }

  @Test("whoever tries an account from one address, for days, never delays its owner at another")
  func ownerElsewhere() {
    var limiter = AttemptLimiter()
    var time = 0.0
    for _ in 0..<5_000 {
      switch verdicts(&limiter, [time])[0] {
      case .allowed: continue
      case .wait(let seconds): time += seconds
      }
      #expect(verdicts(&limiter, [time]) == [.allowed])
      var owner = limiter
      #expect(verdicts(&owner, [time], address: "2.2.2.2") == [.allowed], "after \(time) s")
    }
    #expect(time > 80 * 3600)
  }

  @Test("an address is slowed down whatever the account, and others are not")
  func byAddress() {
    var limiter = AttemptLimiter()
    for number in 1...20 {
      #expect(verdicts(&limiter, [0], account: "user \(number)") == [.allowed])
    }
    #expect(verdicts(&limiter, [0], account: "user 21") == [.wait(seconds: 1)])
    #expect(verdicts(&limiter, [0], account: "user 21", address: "2.2.2.2") == [.allowed])
  }

  @Test("a right password clears the account there, and takes back one attempt of the address")
  func success() {
    var limiter = AttemptLimiter()
    _ = verdicts(&limiter, [0, 0, 0, 0, 0])
    limiter.succeeded(AttemptLimiter.subjects(account: "anna", address: "1.1.1.1"))
    #expect(verdicts(&limiter, [0, 0, 0, 0, 0]) == Array(repeating: .allowed, count: 5))
    #expect(verdicts(&limiter, [0]) == [.wait(seconds: 1)])
    for number in 1...11 { _ = verdicts(&limiter, [0], account: "user \(number)") }
    #expect(verdicts(&limiter, [0], account: "user 12") == [.wait(seconds: 1)])
  }

  @Test("an hour of quiet makes all as new")
  func forgets() {
    var limiter = AttemptLimiter()
    _ = verdicts(&limiter, [0, 0, 0, 0, 0, 1, 3])
    #expect(verdicts(&limiter, [3603, 3603]) == [.allowed, .allowed])
  }

  @Test("what is remembered has a limit: who was quiet for longest is forgotten")
  func capacity() {
    var limiter = AttemptLimiter(capacity: 6)
    _ = verdicts(&limiter, [0, 0, 0, 0, 0], account: "anna", address: "a")
    _ = verdicts(&limiter, [0.1, 0.1, 0.1, 0.1, 0.1], account: "ben", address: "b")
    #expect(verdicts(&limiter, [0.2], account: "anna", address: "a") != [.allowed])
    _ = verdicts(&limiter, [0.2], account: "chloe", address: "c")
    #expect(verdicts(&limiter, [0.2], account: "anna", address: "a") == [.allowed])
  }
}
