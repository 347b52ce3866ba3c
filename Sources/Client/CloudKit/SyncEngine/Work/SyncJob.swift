/// A fetch or a send that a sync engine does or is going to do.
struct SyncJob {
  /// The kind of a job, with its options.
  enum Work: Sendable {
    case fetch(CKSyncEngine.FetchChangesOptions)
    case send(CKSyncEngine.SendChangesOptions)

    init(_ work: SyncSchedule.Work) {
      switch work {
      case .fetch: self = .fetch(.init())
      case .send: self = .send(.init())
      }
    }

    var scheduled: SyncSchedule.Work {
      switch self {
      case .fetch: .fetch
      case .send: .send
      }
    }

    func isSame(as other: Work) -> Bool {
      switch (self, other) {
      case (.fetch(let own), .fetch(let other)):
        own.scope == other.scope && own.prioritizedZoneIDs == other.prioritizedZoneIDs
      case (.send(let own), .send(let other)): own.scope == other.scope
      case (.fetch, .send), (.send, .fetch): false
      }
    }
  }

  typealias Waiter = CheckedContinuation<Void, any Error>

  let work: Work
  let reason: CKSyncEngine.SyncReason
  /// The calls that wait for the end of the job, by a number for each.
  var waiters: [Int: Waiter] = [:]
}
