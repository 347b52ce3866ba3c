import Testing

@testable import CloudKit

struct OperationRetryPolicyTests {
  private func patient(timeout: Double? = nil) -> OperationRetryPolicy {
    OperationRetryPolicy(isPatient: true, resourceTimeout: timeout)
  }

  @Test("An impatient operation never does")
  func impatient() {
    var policy = OperationRetryPolicy(isPatient: false, resourceTimeout: nil)
    for failure in [
      OperationRetryPolicy.Failure.notDelivered, .outcomeUnknown, .busy(retryAfter: 1), .final,
    ] {
      #expect(policy.handle(failure, elapsed: 0, jitter: 0) == .giveUp)
    }
  }

  @Test("A patient one doubles its pauses up to a minute")
  func pauses() {
    var policy = patient()
    let pauses = (0..<9).map { _ in policy.handle(.notDelivered, elapsed: 0, jitter: 1) }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { .retry(after: $0) })
    #expect(!policy.mayRepeatWork)
  }

  @Test("Chance shortens a pause to no less than half")
  func jitter() {
    var policy = patient()
    #expect(policy.handle(.notDelivered, elapsed: 0, jitter: 0) == .retry(after: 0.5))
    #expect(policy.handle(.notDelivered, elapsed: 0, jitter: 0.5) == .retry(after: 1.5))
  }

  @Test("The pause that the server asks for is kept, never shortened")
  func retryAfter() {
    var policy = patient()
    #expect(policy.handle(.busy(retryAfter: 30), elapsed: 0, jitter: 0) == .retry(after: 30))
    #expect(policy.handle(.busy(retryAfter: 30), elapsed: 0, jitter: 1) == .retry(after: 33))
    #expect(policy.handle(.busy(retryAfter: 120), elapsed: 0, jitter: 0) == .retry(after: 120))
  }

  @Test("Nothing is tried beyond the resource timeout")
  func timeout() {
    var policy = patient(timeout: 10)
    #expect(policy.handle(.busy(retryAfter: 5), elapsed: 4, jitter: 0) == .retry(after: 5))
    #expect(policy.handle(.busy(retryAfter: 5), elapsed: 5, jitter: 0) == .giveUp)
  }

  @Test("After a lost answer the call is made again, and may find its work done")
  func lostAnswer() {
    var policy = patient()
    #expect(policy.handle(.notDelivered, elapsed: 0, jitter: 1) == .retry(after: 1))
    #expect(!policy.mayRepeatWork)
    #expect(policy.handle(.outcomeUnknown, elapsed: 0, jitter: 1) == .retry(after: 2))
    #expect(policy.mayRepeatWork)
  }

  @Test("What cannot heal is not tried again")
  func final() {
    var policy = patient()
    #expect(policy.handle(.final, elapsed: 0, jitter: 1) == .giveUp)
  }
}
