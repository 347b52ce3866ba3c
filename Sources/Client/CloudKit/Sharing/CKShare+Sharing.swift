internal import CloudKitModel

extension CKShare {
  /// The properties of a share that are not fields of a record.
  struct Sharing {
    /// The ID of the root record; nil for the share of a zone.
    var root: CKRecord.ID?
    var publicPermission = ParticipantPermission.none
    var participants: [Participant]
    /// The owner; one of the objects in `participants`.
    var owner: Participant
    /// The participant who is the current user; nil if the user takes no part.
    var currentUserParticipant: Participant?
    var url: URL?
    var allowsAccessRequests = false
    /// The users who have requested access and have no answer yet.
    var requesters: [AccessRequester] = []
    /// Whether the program took users from `requesters`. Only then a save sends the list. Otherwise
    /// it would deny requests that the program has not seen.
    var hasChangedRequesters = false
    /// The users whose requests for access are ignored.
    var blockedIdentities: [BlockedIdentity] = []
    /// Whether the program blocked or unblocked users. Only then a save sends the list.
    var hasChangedBlockedIdentities = false

    /// Whether the current user may change the settings about requests for access.
    var isManagedByCurrentUser: Bool {
      switch currentUserParticipant?.role {
      case .owner, .administrator: true
      default: false
      }
    }

    /// Makes the properties of a new share. The current user is its owner, with read-write
    /// permission.
    init(root: CKRecord.ID?) {
      self.root = root
      let identity = CKUserIdentity(
        userRecordID: CKRecord.ID(recordName: CKCurrentUserDefaultName), lookupInfo: nil,
        nameComponents: nil, hasiCloudAccount: true)
      owner = Participant(
        userIdentity: identity, role: .owner, permission: .readWrite, acceptanceStatus: .accepted)
      participants = [owner]
      currentUserParticipant = owner
    }

    /// Adds a participant. A participant with the same identity gets the role and permission of the
    /// new one. The owner stays unchanged.
    mutating func add(_ participant: Participant) {
      guard let known = participants.first(where: { $0.isEqual(participant) }) else {
        participants.append(participant)
        return
      }
      guard known !== owner else { return }
      known.role = participant.role
      known.permission = participant.permission
    }

    mutating func deny(_ denied: [AccessRequester]) {
      requesters.removeAll { denied.contains($0) }
      hasChangedRequesters = true
    }

    /// Takes users from the lists of requesters and participants, and adds them to the blocked
    /// ones. The owner stays a participant.
    mutating func block(_ blocked: [AccessRequester]) {
      deny(blocked)
      for identity in blocked.map(\.userIdentity) {
        participants.removeAll { $0 !== owner && $0.userIdentity.isSamePerson(as: identity) }
        guard !blockedIdentities.contains(where: { $0.userIdentity == identity }) else { continue }
        blockedIdentities.append(BlockedIdentity(userIdentity: identity))
      }
      hasChangedBlockedIdentities = true
    }

    mutating func unblock(_ unblocked: [BlockedIdentity]) {
      blockedIdentities.removeAll { unblocked.contains($0) }
      hasChangedBlockedIdentities = true
    }

    /// Returns the properties with copies of the participants. The owner and the current user stay
    /// members of the list.
    func copy() -> Sharing {
      var copy = self
      copy.participants = participants.map { $0.copied }
      func copied(_ participant: Participant) -> Participant {
        copy.participants.first { $0.participantID == participant.participantID }
          ?? participant.copied
      }
      copy.owner = copied(owner)
      copy.currentUserParticipant = currentUserParticipant.map { copied($0) }
      return copy
    }
  }
}

// MARK: - Archives

extension CKShare.Sharing {
  init(coder: NSCoder) {
    self.init(root: coder.decodeOptional(CKRecordID.self, forKey: "RootRecordID"))
    publicPermission = .init(number: coder.decodeInteger(forKey: "PublicPermission"))
    url = coder.decodeOptional(NSURL.self, forKey: "URL").map { $0 as URL }
    guard coder.containsValue(forKey: "Participants") else { return }
    guard
      let participants = coder.decodeObject(
        of: [NSArray.self, CKShareParticipant.self], forKey: "Participants")
        as? [CKShareParticipant]
    else {
      coder.failWithError(CocoaError(.coderReadCorrupt))
      return
    }
    self.participants = participants
    if let owner = participants.first(where: { $0.role == .owner }) {
      self.owner = owner
    } else {
      self.participants.append(owner)
    }
    currentUserParticipant = participants.first(where: \.isCurrentUser)
    // Archives of Apple's framework do not have the following keys.
    allowsAccessRequests = coder.decodeBool(forKey: "allowsAccessRequests")
    requesters = coder.decodeUsers(forKey: "requesters")
    hasChangedRequesters = coder.decodeBool(forKey: "hasChangedRequesters")
    blockedIdentities = coder.decodeUsers(forKey: "blockedIdentities")
    hasChangedBlockedIdentities = coder.decodeBool(forKey: "hasChangedBlockedIdentities")
  }

  func encode(with coder: NSCoder) {
    for participant in participants {
      participant.isCurrentUser = participant === currentUserParticipant
    }
    coder.encode(root, forKey: "RootRecordID")
    coder.encode(publicPermission.rawValue, forKey: "PublicPermission")
    coder.encode(url.map { $0 as NSURL }, forKey: "URL")
    coder.encode(NSArray(array: participants), forKey: "Participants")
    coder.encode(allowsAccessRequests, forKey: "allowsAccessRequests")
    coder.encode(NSArray(array: requesters), forKey: "requesters")
    coder.encode(hasChangedRequesters, forKey: "hasChangedRequesters")
    coder.encode(NSArray(array: blockedIdentities), forKey: "blockedIdentities")
    coder.encode(hasChangedBlockedIdentities, forKey: "hasChangedBlockedIdentities")
  }
}

extension NSCoder {
  /// Decodes a list of objects of one class. A missing key gives an empty list. Another value makes
  /// the decoder fail.
  fileprivate func decodeUsers<User: NSObject & NSSecureCoding>(forKey key: String) -> [User] {
    guard containsValue(forKey: key) else { return [] }
    if let users = decodeObject(of: [NSArray.self, User.self], forKey: key) as? [User] {
      return users
    }
    failWithError(CocoaError(.coderReadCorrupt))
    return []
  }
}

// MARK: - The wire

extension CKShare.Sharing {
  /// Makes the properties from the server's answer.
  ///
  /// - Parameters:
  ///   - creator: The user who created the share. This user is the owner if the answer names none.
  ///   - isOwn: Whether the share is in the current user's own database. If so, and the answer
  ///     names no current participant, the owner is the current user.
  init(_ model: ShareContent, recordID: CKRecord.ID, creator: CKRecord.ID?, isOwn: Bool) {
    self.init(
      root: model.root.map {
        CKRecord.ID(recordName: $0.recordName, zoneID: recordID.zoneID)
      })
    publicPermission = .init(model.publicPermission ?? .none)
    url = model.url.flatMap { URL(string: $0) }
    allowsAccessRequests = model.deniesAccessRequests == false
    requesters = (model.requesters ?? []).compactMap { CKShareAccessRequester(CKUserIdentity($0)) }
    blockedIdentities = (model.blocked ?? []).map {
      CKShareBlockedIdentity(userIdentity: CKUserIdentity($0))
    }
    var oneTimeURLs: [String: String] = [:]
    for link in model.oneTimeLinks ?? [] {
      for participantID in link.participantIDs { oneTimeURLs[participantID] = link.url }
    }
    participants = (model.participants ?? []).map {
      CKShareParticipant($0, oneTimeURLs: oneTimeURLs)
    }
    let namedOwner = model.owner.map { CKShareParticipant($0) }
    if let known = participants.first(where: { $0.isEqual(namedOwner) || $0.role == .owner }) {
      owner = known
    } else {
      owner =
        namedOwner
        ?? CKShareParticipant(
          userIdentity: CKUserIdentity(
            userRecordID: creator, lookupInfo: nil, nameComponents: nil, hasiCloudAccount: true),
          role: .owner, permission: .readWrite, acceptanceStatus: .accepted)
      participants.insert(owner, at: 0)
    }
    let current = model.currentParticipant.map { CKShareParticipant($0) }
    currentUserParticipant =
      current.map { current in participants.first { $0.isEqual(current) } ?? current }
      ?? (isOwn ? owner : nil)
  }

  var model: ShareContent {
    let links = participants.filter(\.joinsByOneTimeURL).map {
      ShareContent.OneTimeLink(
        participantIDs: [$0.participantID], url: $0.oneTimeURL?.absoluteString)
    }
    return ShareContent(
      root: root.map { .init(recordName: $0.recordName) },
      publicPermission: publicPermission.model, participants: participants.map(\.model),
      deniesAccessRequests: !allowsAccessRequests,
      requesters: hasChangedRequesters ? requesters.map(\.userIdentity.model) : nil,
      blocked: hasChangedBlockedIdentities ? blockedIdentities.map(\.userIdentity.model) : nil,
      oneTimeLinks: links.isEmpty ? nil : links)
  }
}
