import HistoryChecking

/// A fault that prevents a server from keeping its promises, so that the reliability test must find
/// them broken.
enum Sabotage {
  /// Syncs do nothing, and all that was not synced is lost with the power.
  case lyingDisk
  /// A byte of the store's file is another one when the server starts again.
  case damagedFile
  /// A participant who was removed takes part again, though nobody has invited them.
  case removalTakenBack

  var name: String {
    switch self {
    case .lyingDisk: "the lying disk"
    case .damagedFile: "the damaged file"
    case .removalTakenBack: "the removal that was taken back"
    }
  }

  /// The promise that the fault breaks.
  var promise: Violation.Promise {
    switch self {
    case .lyingDisk: .nothingAcknowledgedIsLost
    case .damagedFile: .restart
    case .removalTakenBack: .onlyWhatMayBeRead
    }
  }
}
