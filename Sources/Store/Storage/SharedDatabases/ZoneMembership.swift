import CloudKitModel
import StoreModel

/// A user's part in one share, from the acceptance to the removal.
struct ZoneMembership: Equatable {
  var share: Int64
  /// The root record; nil for the share of the whole zone.
  var root: Int64?
  var participantID: String
  var role: ShareRole
  /// A user who joined by a public share has its permission.
  var permission: SharePermission
  /// The change with which the user joined.
  var joined: Int64

  var mayRead: Bool { AccessPolicy.refusal(of: .read, as: role, with: permission) == nil }

  var mayWrite: Bool { AccessPolicy.refusal(of: .write, as: role, with: permission) == nil }

  /// Says what a record that the share covers is to the share.
  func kind(ofRecord number: Int64) -> SharedRecordKind {
    if number == share { return .share }
    return number == root ? .root : .member
  }

  /// Whether the user may delete a record that the share covers, directly or by a `deleteSelf`
  /// reference.
  func mayDelete(_ number: Int64) -> Bool {
    AccessPolicy.refusal(of: kind(ofRecord: number).deletion, as: role, with: permission) == nil
  }

  /// - Throws: ``ItemFailure/Code/accessDenied``, with the record in its text.
  func check(_ action: ParticipantAction, on record: RecordID) throws(ItemFailure) {
    guard let reason = AccessPolicy.refusal(of: action, as: role, with: permission) else { return }
    throw ItemFailure(
      .accessDenied, "record '\(record)' cannot be saved or deleted: \(reason)")
  }
}
