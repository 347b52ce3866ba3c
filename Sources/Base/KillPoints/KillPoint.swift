#if KILL_POINTS
import Foundation
import Synchronization
#endif

/// Places in the code at which a server can be told to end as if it were killed, between two steps that
/// must each be safe by themselves.
///
/// They are there in debug builds alone, for tests of crashes: a server that is started with
/// `KILL_POINT=afterCommit:17` in its environment sends itself SIGKILL when it comes to
/// ``afterCommit`` for the 17th time.
public enum KillPoint: String, CaseIterable, Sendable {
  /// A transaction has written everything and is not committed.
  case beforeCommit
  /// A transaction is committed; nobody was told.
  case afterCommit
  /// Those who wait for a commit have their results; the answer is not sent.
  case beforeAnswer
  /// Changes were matched, and nothing of it is written.
  case afterMatch
  /// Notifications and deliveries are written; no push was sent.
  case afterLogging
  /// A push is about to be sent.
  case beforePush
  /// APNs has accepted a push, which is not written.
  case afterPush
  /// What became of pushes is written.
  case afterOutcome
  /// A step of the deletion of a user is committed.
  case afterDeletionStep
  /// The write-ahead log is about to be copied into the database.
  case beforeCheckpoint
  /// It was copied.
  case afterCheckpoint

  /// Ends the process here if it is to end here.
  @inlinable
  @inline(__always)
  public func reach() {
    #if KILL_POINTS
    count()
    #endif
  }

  #if KILL_POINTS
  /// The point and how many times it is passed before.
  private static let chosen: (point: KillPoint, passes: Int)? = {
    guard let text = ProcessInfo.processInfo.environment["KILL_POINT"] else { return nil }
    let words = text.split(separator: ":", maxSplits: 1)
    guard let point = words.first.flatMap({ KillPoint(rawValue: String($0)) }) else { return nil }
    return (point, words.count > 1 ? Int(words[1]) ?? 1 : 1)
  }()

  private static let passed = Atomic<Int>(0)

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
