import CloudKitModel
import StoreModel

/// The part of a user in one share of a zone, after the acceptance and before the removal.
struct ZoneMembership: Equatable {
  /// The number of the share's record.
  var share: Int64
  /// The number of the root record; nil for the share of the whole zone.
  var root: Int64?
  /// The identifier of the participant in the share.
  var participantID: String
  var role: ShareRole
  /// The present permission. Who joined by a public share has that of the share.
  var permission: SharePermission
  /// The number of the change with which the user joined.
  var joined: Int64

  /// Whether the user sees the share.
  var mayRead: Bool { AccessPolicy.refusal(of: .read, as: role, with: permission) == nil }

  /// Whether the user may create, change and delete records.
  var mayWrite: Bool { AccessPolicy.refusal(of: .write, as: role, with: permission) == nil }

  /// Returns what a record that the share covers is to the share.
  func kind(ofRecord number: Int64) -> SharedRecordKind {
    if number == share { return .share }
    return number == root ? .root : .member
  }

  /// Whether the user may delete a record that the share covers, directly or by the deletion of a
  /// record that it refers to with `deleteSelf`.
  func mayDelete(_ number: Int64) -> Bool {
    AccessPolicy.refusal(of: kind(ofRecord: number).deletion, as: role, with: permission) == nil
  }

  /// Checks that the user may do something in the share.
  ///
  /// - Parameter record: the record for the text of the error.
  /// - Throws: ``ItemFailure/Code/accessDenied``.
  func check(_ action: ParticipantAction, on record: RecordID) throws(ItemFailure) {
    guard let reason = AccessPolicy.refusal(of: action, as: role, with: permission) else { return }
    throw ItemFailure(
      .accessDenied, "record '\(record)' cannot be saved or deleted: \(reason)")
  }
}
