internal import CloudKitModel

extension CKShare {
  /// The properties of a share that are not fields of a record.
  struct Sharing {
    /// The ID of the root record; nil for the share of a zone.
    var root: CKRecord.ID?
    /// The change tag of the root record. A save sends it with the share.
    var rootChangeTag: String?
    var publicPermission = ParticipantPermission.none
    /// All participants, the owner among them.
    var participants: [Participant]
    /// The owner; one of the objects in `participants`.
    var owner: Participant
    /// The participant who is the current user; nil if the user takes no part.
    var currentUserParticipant: Participant?
    /// The URL with which participants open the share; nil before the first save.
    var url: URL?

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

    /// Returns the properties with copies of the participants. The owner and the current user stay
    /// members of the list.
    func copy() -> Sharing {
      var copy = self
      copy.participants = participants.map { $0.copied }
      copy.owner = copy.participants.first { $0.isEqual(owner) } ?? owner.copied
      copy.currentUserParticipant = currentUserParticipant.map { current in
        copy.participants.first { $0.isEqual(current) } ?? current.copied
      }
      return copy
    }
  }
}

// MARK: - Archives

extension CKShare.Sharing {
  /// Decodes the properties from a share's archive.
  init(coder: NSCoder) {
    self.init(root: coder.decodeOptional(CKRecordID.self, forKey: "rootRecordID"))
    rootChangeTag = coder.decodeOptionalString(forKey: "rootRecordChangeTag")
    publicPermission =
      .init(rawValue: coder.decodeInteger(forKey: "publicPermission")) ?? .unknown
    url = coder.decodeOptionalString(forKey: "url").flatMap { URL(string: $0) }
    // Apple's framework archives the participants in its own format. Of such an archive only the
    // record is read.
    guard coder.containsValue(forKey: "participants") else { return }
    guard
      let participants = coder.decodeObject(
        of: [NSArray.self, CKShareParticipant.self], forKey: "participants")
        as? [CKShareParticipant],
      let owner = coder.decodeOptional(CKShareParticipant.self, forKey: "owner")
    else {
      coder.failWithError(CocoaError(.coderReadCorrupt))
      return
    }
    self.participants = participants
    self.owner = owner
    currentUserParticipant = coder.decodeOptional(
      CKShareParticipant.self, forKey: "currentUserParticipant")
  }

  /// Encodes the properties in the archive of the system fields.
  func encode(with coder: NSCoder) {
    coder.encode(root, forKey: "rootRecordID")
    coder.encodeOptional(rootChangeTag, forKey: "rootRecordChangeTag")
    coder.encode(publicPermission.rawValue, forKey: "publicPermission")
    coder.encodeOptional(url?.absoluteString, forKey: "url")
    coder.encode(NSArray(array: participants), forKey: "participants")
    coder.encode(owner, forKey: "owner")
    coder.encode(currentUserParticipant, forKey: "currentUserParticipant")
  }
}

// MARK: - The wire

extension CKShare.Sharing {
  /// Makes the properties from the server's answer.
  ///
  /// - Parameters:
  ///   - recordID: The ID of the share record; its zone is that of the root.
  ///   - creator: The user who created the share. This user is the owner if the answer names none.
  ///   - isOwn: Whether the share is in the current user's own database. If so, and the answer
  ///     names no current participant, the owner is the current user.
  init(_ model: ShareContent, recordID: CKRecord.ID, creator: CKRecord.ID?, isOwn: Bool) {
    self.init(
      root: model.root.map {
        CKRecord.ID(recordName: $0.recordName, zoneID: recordID.zoneID)
      })
    rootChangeTag = model.root?.recordChangeTag
    publicPermission = .init(model.publicPermission ?? .none)
    url = model.url.flatMap { URL(string: $0) }
    participants = (model.participants ?? []).map { CKShareParticipant($0) }
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

  /// The properties as a request contains them.
  var model: ShareContent {
    ShareContent(
      root: root.map { .init(recordName: $0.recordName, recordChangeTag: rootChangeTag) },
      publicPermission: publicPermission.model, participants: participants.map(\.model))
  }
}
