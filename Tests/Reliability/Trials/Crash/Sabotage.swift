import HistoryChecking

/// What makes it impossible for a server to keep its promises, so that a trial must find them broken.
enum Sabotage {
  /// Syncs do nothing, and all that was not synced is lost with the power.
  case lyingDisk
  /// A byte of the store's file is another one when the server starts again.
  case damagedFile

  var name: String {
    switch self {
    case .lyingDisk: "the lying disk"
    case .damagedFile: "the damaged file"
    }
  }

  /// What it breaks.
  var promise: Violation.Promise {
    switch self {
    case .lyingDisk: .nothingAcknowledgedIsLost
    case .damagedFile: .restart
    }
  }
}
