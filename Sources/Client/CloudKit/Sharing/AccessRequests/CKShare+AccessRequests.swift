extension CKShare {
  /// Whether users who are not invited can request access to the share; false for a new share.
  ///
  /// Such a user needs the URL of the share. If the value is false, the server's answer does not
  /// show whether the share exists. The change counts when the share is saved.
  ///
  /// - Precondition: Only the owner and administrators set the value. Otherwise the program stops.
  public var allowsAccessRequests: Bool {
    get { sharing.withLock { $0.allowsAccessRequests } }
    set {
      requireManager("allowsAccessRequests")
      sharing.withLock { $0.allowsAccessRequests = newValue }
    }
  }

  /// The users who have requested access and who are neither added, denied nor blocked.
  ///
  /// To approve a request, fetch a participant for its
  /// ``CKShareAccessRequester/participantLookupInfo``, add the participant and save the share.
  public var requesters: [CKShare.AccessRequester] { sharing.withLock { $0.requesters } }

  /// The users whose requests for access the server ignores, until ``unblockIdentities(_:)`` takes
  /// them from the list.
  public var blockedIdentities: [CKShare.BlockedIdentity] {
    sharing.withLock { $0.blockedIdentities }
  }

  /// Denies requests for access: takes the users from ``requesters``. They can request access again.
  ///
  /// Users who are not in the list are ignored. The change counts when the share is saved.
  ///
  /// - Precondition: The current user is the owner or an administrator. Otherwise the program stops.
  public func denyRequesters(_ requesters: [CKShare.AccessRequester]) {
    requireManager("denyRequesters")
    sharing.withLock { $0.deny(requesters) }
  }

  /// Blocks users: takes them from ``requesters`` and adds them to ``blockedIdentities``.
  ///
  /// A blocked user who is a participant is removed from ``participants``. The owner is never
  /// removed. The change counts when the share is saved.
  ///
  /// - Precondition: The current user is the owner or an administrator. Otherwise the program stops.
  public func blockRequesters(_ requesters: [CKShare.AccessRequester]) {
    requireManager("blockRequesters")
    sharing.withLock { $0.block(requesters) }
  }

  /// Takes users from ``blockedIdentities``. They can request access again.
  ///
  /// Users who are not in the list are ignored. The change counts when the share is saved.
  ///
  /// - Precondition: The current user is the owner or an administrator. Otherwise the program stops.
  public func unblockIdentities(_ blockedIdentities: [CKShare.BlockedIdentity]) {
    requireManager("unblockIdentities")
    sharing.withLock { $0.unblock(blockedIdentities) }
  }

  /// Stops the program unless the current user is the owner or an administrator of the share.
  private func requireManager(_ name: String) {
    requireArgument(
      sharing.withLock { $0.isManagedByCurrentUser },
      "CKShare: \(name) needs the owner or an administrator of the share")
  }
}
