extension ShareContent {
  /// Returns the part of the content that a participant may see.
  ///
  /// - The owner and an administrator see everything.
  /// - A private user sees the owner, the users who have accepted, and the own entry.
  /// - A public user sees the owner and the own entry.
  ///
  /// Only the own entry has the address by which the participant was invited.
  ///
  /// - Parameter participant: the participant who asks. It is the current one in the result.
  public func seen(by participant: ShareParticipant) -> ShareContent {
    var view = self
    view.currentParticipant = participant
    func mayDo(_ action: ParticipantAction) -> Bool {
      AccessPolicy.refusal(of: action, as: participant.role, with: participant.permission) == nil
    }
    guard !mayDo(.seeInvitations) else { return view }
    let seesOthers = mayDo(.seeParticipants)
    let others = (participants ?? []).filter { other in
      other.participantID != participant.participantID && other.role != .owner && seesOthers
        && other.acceptance == .accepted
    }
    let hidden = ([owner].compactMap(\.self) + others).map { other in
      var other = other
      other.identity.lookup = nil
      other.oneTimeURL = nil
      return other
    }
    view.owner = hidden.first { $0.role == .owner }
    view.participants = hidden + [participant]
    view.deniesAccessRequests = nil
    view.requesters = nil
    view.blocked = nil
    view.oneTimeLinks = nil
    return view
  }
}
