#if KILL_POINTS
import Foundation
import Synchronization
#endif

/// The places in the code at which a test can kill the server. Each place is between two steps. If
/// the server ends there, no committed change may be lost.
///
/// They exist in debug builds only, for tests of crashes. A server with `KILL_POINT=afterCommit:17`
/// in its environment sends itself SIGKILL when it reaches ``afterCommit`` for the 17th time.
public enum KillPoint: String, CaseIterable, Sendable {
  /// A transaction has written all its changes and is not committed.
  case beforeCommit
  /// A transaction is committed, and its callers do not have their results.
  case afterCommit
  /// The callers that waited for a commit have their results, and the answer to the client is not
  /// sent.
  case beforeAnswer
  /// Changes are matched against the subscriptions, and no result is written.
  case afterMatch
  /// Changes are forwarded to the participants of shares, and are not marked as dispatched.
  case afterForward
  /// Notifications and deliveries are written, and no push is sent.
  case afterLogging
  /// A push is about to be sent.
  case beforePush
  /// APNs has accepted a push, and the result is not written.
  case afterPush
  /// The results of pushes are written.
  case afterOutcome
  /// One step of the deletion of a user is committed.
  case afterDeletionStep
  /// The write-ahead log is about to be copied into the database.
  case beforeCheckpoint
  /// The write-ahead log was copied into the database.
  case afterCheckpoint

  /// Kills the process if the environment variable `KILL_POINT` names this point and the given
  /// number of passes is reached. A pass is one call of this method on the point. Does nothing in
  /// release builds.
  @inlinable
  @inline(__always)
  public func reach() {
    #if KILL_POINTS
    count()
    #endif
  }

  #if KILL_POINTS
  /// The point and the pass in the environment; the first pass if the number is missing.
  private static let chosen: (point: KillPoint, passes: Int)? = {
    guard let text = ProcessInfo.processInfo.environment["KILL_POINT"] else { return nil }
    let words = text.split(separator: ":", maxSplits: 1)
    guard let point = words.first.flatMap({ KillPoint(rawValue: String($0)) }) else { return nil }
    return (point, words.count > 1 ? Int(words[1]) ?? 1 : 1)
  }()

  private static let passed = Atomic<Int>(0)

  /// Counts a pass of the chosen point, and kills the process at the chosen number of passes.
  @usableFromInline
  func count() {
    guard let chosen = Self.chosen, chosen.point == self,
      Self.passed.add(1, ordering: .relaxed).newValue >= chosen.passes
    else { return }
    kill(getpid(), SIGKILL)
    while true { pause() }
  }
  #endif
}
