internal import CloudKitModel

extension CKShare {
  /// What a share has beyond the fields of a record.
  struct Sharing {
    var root: CKRecord.ID?
    var rootChangeTag: String?
    var publicPermission = ParticipantPermission.none
    var participants: [Participant]
    var owner: Participant
    var currentUserParticipant: Participant?
    var url: URL?

    /// That of a share which the current user is about to make.
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

    mutating func add(_ participant: Participant) {
      guard let known = participants.first(where: { $0.isEqual(participant) }) else {
        participants.append(participant)
        return
      }
      guard known !== owner else { return }
      known.role = participant.role
      known.permission = participant.permission
    }

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
  init(coder: NSCoder) {
    self.init(root: coder.decodeOptional(CKRecordID.self, forKey: "rootRecordID"))
    rootChangeTag = coder.decodeOptionalString(forKey: "rootRecordChangeTag")
    publicPermission =
      .init(rawValue: coder.decodeInteger(forKey: "publicPermission")) ?? .unknown
    url = coder.decodeOptionalString(forKey: "url").flatMap { URL(string: $0) }
    // A share that Apple's framework archived keeps them in a way of its own: only its record is
    // read.
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
  /// - Parameters:
  ///   - creator: the share's creator, who owns it when the server does not say who does.
  ///   - isOwn: whether the share lies in the current user's own database.
  init(_ model: ShareContent, recordID: CKRecord.ID, creator: CKRecord.ID?, isOwn: Bool) {
    self.init(
      root: model.root.map {
        CKRecord.ID(recordName: $0.recordName, zoneID: recordID.zoneID)
      })
    rootChangeTag = model.root?.recordChangeTag
    publicPermission = .init(model.publicPermission)
    url = model.url.flatMap { URL(string: $0) }
    participants = model.participants.map { CKShareParticipant($0) }
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
    ShareContent(
      root: root.map { .init(recordName: $0.recordName, recordChangeTag: rootChangeTag) },
      publicPermission: publicPermission.model, participants: participants.map(\.model))
  }
}
