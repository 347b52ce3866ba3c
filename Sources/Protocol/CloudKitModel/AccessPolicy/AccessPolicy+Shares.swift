/// An action of a participant on the records of a share.
public enum ParticipantAction: Sendable, Hashable, CaseIterable {
  /// Reading the share and its records.
  case read
  /// Creating a record in the shared hierarchy or zone, and changing or deleting one.
  case write
  /// Deleting the root of the shared hierarchy.
  case deleteRoot
  /// Ending the share for all, by the deletion of its record with another record.
  case endShare
  /// Saving a record outside of the hierarchies that the participant may write, or moving one out of
  /// them.
  case writeOutside
  /// Changing the fields of the share, its participants or its public permission.
  case changeShare
  /// Making a participant an administrator of the share, and changing, removing and blocking one.
  case changeAdministrators
  /// Seeing the other participants who have accepted.
  case seeParticipants
  /// Seeing who is invited, the addresses of participants, and the requests for access.
  case seeInvitations
  /// Making a new share.
  case createShare
  /// Leaving the share.
  case leave
}

/// A record that a share covers, by what its deletion does to the share.
public enum SharedRecordKind: Sendable, Hashable, CaseIterable {
  /// The record of the share.
  case share
  /// The root of the shared hierarchy. Its deletion ends the share.
  case root
  /// A record below the root, or in a shared zone. Its deletion ends no share.
  case member

  /// The action of a participant who deletes the record, directly or by the deletion of a record that
  /// it refers to with `deleteSelf`. The participant's own deletion of the record of the share is not
  /// meant here: it leaves the share.
  public var deletion: ParticipantAction {
    switch self {
    case .share: .endShare
    case .root: .deleteRoot
    case .member: .write
    }
  }
}

extension AccessPolicy {
  /// Returns the reason why a participant who has accepted may not do something; nil if the
  /// participant may.
  ///
  /// The owner may do everything. The owner saves and deletes records in the private database, and
  /// the store does not call this function for them.
  ///
  /// - Parameter permission: The permission of the participant. An administrator may always write.
  public static func refusal(
    of action: ParticipantAction, as role: ShareRole, with permission: SharePermission
  ) -> String? {
    guard role != .owner else { return nil }
    let isAdministrator = role == .administrator
    switch action {
    case .read, .leave:
      return isAdministrator || permission != .none
        ? nil : "the share gives this participant no permission"
    case .write:
      return isAdministrator || permission == .readWrite
        ? nil : "the share gives this participant the permission to read only"
    case .changeShare:
      return isAdministrator ? nil : "only the owner and administrators of a share may change it"
    case .changeAdministrators:
      return "only the owner of a share makes, changes, removes and blocks its administrators"
    case .seeParticipants:
      return role == .publicUser
        ? "a user who joined by a public share sees only the owner among the others" : nil
    case .seeInvitations:
      return isAdministrator ? nil : "only the owner and administrators of a share see invitations"
    case .deleteRoot:
      return "only the owner may delete the root record of a share"
    case .endShare:
      return "only the owner may end a share"
    case .writeOutside:
      return
        "the parent of the record must be in a shared hierarchy that this participant may write"
    case .createShare:
      return "only the owner of records may share them"
    }
  }
}
