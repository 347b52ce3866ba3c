import CloudKitModel
import Foundation
import StoreModel

/// The changes of a share's participants that a save of the share makes.
///
/// The type reads no table, so its rules can be tested by themselves.
struct ParticipantChanges: Equatable {
  private(set) var saved: [StoredParticipant] = []
  private(set) var ended: [StoredParticipant] = []
  private(set) var hidden: [StoredParticipant] = []
  private(set) var added: Set<String> = []

  /// The share before and after the save.
  struct Situation {
    var present: [StoredParticipant]
    var owner: (user: String, id: String)
    var permission: (before: SharePermission, after: SharePermission)
    var requester: ShareRole
    var timestamp: Timestamp
    var requesters: Set<String> = []
    var blocked: Set<String> = []
  }

  /// A participant whom the share blocks is removed, whatever the list says.
  ///
  /// - Parameter requested: the whole list; nil leaves the list as it is.
  /// - Throws: ``ItemFailure/Code/invalid`` for a participant who cannot be added or removed;
  ///   ``ItemFailure/Code/accessDenied`` if another than the owner makes, changes or removes an
  ///   administrator; ``ItemFailure/Code/tooManyParticipants``.
  init(
    to requested: [ShareParticipant]?, in situation: Situation
  ) throws(ItemFailure) {
    var remaining = situation.present
    var kept: [StoredParticipant] = []
    for participant in requested ?? [] {
      if Self.isOwner(participant, in: situation) { continue }
      if let index = remaining.firstIndex(where: { Self.isSame($0, as: participant) }) {
        let before = remaining.remove(at: index)
        let after = try Self.changed(before, to: participant)
        if after != before { saved.append(after) }
        if before.mayRead, !after.mayRead { hidden.append(after) }
        kept.append(after)
      } else if !kept.contains(where: { Self.isSame($0, as: participant) }) {
        let new = try Self.new(participant, besides: situation.present + kept, in: situation)
        saved.append(new)
        kept.append(new)
        if let user = new.user { added.insert(user) }
      }
    }
    if requested == nil {
      kept = remaining
      remaining = []
    }
    ended = remaining
    try checkSharing(in: situation)
    endOthers(among: &kept, in: situation)
    try checkAdministrators(in: situation)
    // The owner counts.
    let limit = ServiceLimits.participantsPerShare
    guard kept.count < limit || saved.allSatisfy({ situation.present.map(\.id).contains($0.id) })
    else {
      throw ItemFailure(
        .tooManyParticipants, field: "participants",
        "the share would have \(kept.count + 1) participants with its owner; the limit is \(limit)",
        limit: limit)
    }
  }

  /// Participants are invited or removed only while the share is not public.
  private func checkSharing(in situation: Situation) throws(ItemFailure) {
    let isPublic = situation.permission.before != .none || situation.permission.after != .none
    guard isPublic else { return }
    let known = Set(situation.present.map(\.id))
    // A change of the public permission removes who has not accepted, in any case.
    let isRemoving = ended.contains { $0.joined != nil && $0.role != .publicUser }
    guard isRemoving || !saved.allSatisfy({ known.contains($0.id) }) else { return }
    throw ItemFailure(
      .invalid, field: "participants",
      "participants can be added and removed only while the share has no public permission; save "
        + "the share with publicPermission NONE first")
  }

  private mutating func endOthers(
    among kept: inout [StoredParticipant], in situation: Situation
  ) {
    let permission = situation.permission
    for participant in kept {
      let isBlocked = participant.user.map(situation.blocked.contains) == true
      let wasInvited = participant.joined == nil && permission.before != permission.after
      let wasPublic = participant.role == .publicUser && permission.after == .none
      guard isBlocked || wasInvited && permission.after != .none || wasPublic else { continue }
      kept.removeAll { $0.id == participant.id }
      saved.removeAll { $0.id == participant.id }
      ended += situation.present.filter { $0.id == participant.id }
    }
  }

  /// Only the owner makes, changes or removes an administrator, by whichever part of the save: the
  /// list, a block, or the public permission.
  private func checkAdministrators(in situation: Situation) throws(ItemFailure) {
    guard
      let reason = AccessPolicy.refusal(
        of: .changeAdministrators, as: situation.requester, with: .readWrite)
    else { return }
    let known = Set(situation.present.filter { $0.role == .administrator }.map(\.id))
    guard (saved + ended).contains(where: { $0.role == .administrator || known.contains($0.id) })
    else { return }
    throw ItemFailure(.accessDenied, field: "participants", reason)
  }

  // MARK: Single participants

  private static func isOwner(
    _ participant: ShareParticipant, in situation: Situation
  ) -> Bool {
    participant.role == .owner || participant.participantID == situation.owner.id
      || participant.user == situation.owner.user
  }

  private static func isSame(
    _ known: StoredParticipant, as participant: ShareParticipant
  ) -> Bool {
    if let id = participant.participantID, id == known.id { return true }
    if let user = participant.user, user == known.user { return true }
    // A wrong address is no participant's. It is refused when the participant is added.
    guard let other = try? participant.canonicalLookup(), let lookup = known.details.lookup else {
      return false
    }
    return (lookup.emailAddress != nil && lookup.emailAddress == other.emailAddress)
      || (lookup.phoneNumber != nil && lookup.phoneNumber == other.phoneNumber)
  }

  private static func changed(
    _ known: StoredParticipant, to participant: ShareParticipant
  ) throws(ItemFailure) -> StoredParticipant {
    guard known.role != .publicUser else { return known }
    var changed = known
    changed.role = try role(of: participant, before: known.role)
    changed.permission = try permission(of: participant)
    return changed
  }

  private static func new(
    _ participant: ShareParticipant, besides known: [StoredParticipant], in situation: Situation
  ) throws(ItemFailure) -> StoredParticipant {
    if let user = participant.user, situation.blocked.contains(user) {
      throw ItemFailure(
        .invalid, field: "participants",
        "user '\(user)' is blocked; save the share with a list 'blocked' without this user to add "
          + "the user again")
    }
    let lookup: UserLookup?
    do {
      lookup = try participant.canonicalLookup()
    } catch {
      throw ItemFailure(error)
    }
    var id = participant.participantID ?? ""
    if id.isEmpty || id.utf8.count > ServiceLimits.nameLength
      || known.contains(where: { $0.id == id })
    {
      id = UUID().uuidString
    }
    var details = ParticipantDetails()
    details.lookup = lookup
    details.added = situation.timestamp
    details.isApprovedRequester = participant.user.map(situation.requesters.contains) ?? false
    return StoredParticipant(
      id: id, user: participant.user,
      role: try role(of: participant, before: .privateUser),
      permission: try permission(of: participant), details: details)
  }

  private static func role(
    of participant: ShareParticipant, before: ShareRole
  ) throws(ItemFailure) -> ShareRole {
    switch participant.role {
    case .administrator, .privateUser: return participant.role
    case .unknown: return before
    case .owner, .publicUser:
      throw ItemFailure(
        .invalid, field: "participants",
        "a participant cannot be added with the type \(participant.role.rawValue); use USER or "
          + "ADMINISTRATOR")
    }
  }

  private static func permission(
    of participant: ShareParticipant
  ) throws(ItemFailure) -> SharePermission {
    guard participant.permission != .unknown else {
      throw ItemFailure(
        .invalid, field: "participants",
        "a participant's permission must be NONE, READ_ONLY or READ_WRITE")
    }
    return participant.permission
  }
}

extension ShareParticipant {
  fileprivate var user: String? {
    identity.userRecordName ?? identity.lookup?.userRecordName
  }

  fileprivate func canonicalLookup() throws(ModelError) -> UserLookup? {
    guard var lookup = identity.lookup else { return nil }
    if let address = lookup.emailAddress {
      lookup.emailAddress = try UserLookup.canonicalEmailAddress(address)
    }
    if let number = lookup.phoneNumber {
      lookup.phoneNumber = try UserLookup.canonicalPhoneNumber(number)
    }
    return lookup == UserLookup() ? nil : lookup
  }
}
