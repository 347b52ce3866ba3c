internal import CloudKitModel

extension CKShareParticipant {
  /// Makes a participant from the server's answer. One without an ID gets a UUID.
  convenience init(_ model: ShareParticipant, oneTimeURLs: [String: String] = [:]) {
    let oneTimeURL = model.oneTimeURL ?? model.participantID.flatMap { oneTimeURLs[$0] }
    self.init(
      userIdentity: CKUserIdentity(model.identity), role: .init(model.role),
      permission: .init(model.permission), acceptanceStatus: .init(model.acceptance),
      participantID: model.participantID ?? UUID().uuidString,
      isApprovedRequester: model.isApprovedRequester, dateAddedToShare: model.added?.date,
      joinsByOneTimeURL: oneTimeURL != nil, oneTimeURL: oneTimeURL.flatMap { URL(string: $0) })
  }

  /// The participant as a request contains it. Properties that only the server sets are left out.
  var model: ShareParticipant {
    ShareParticipant(
      participantID: participantID, role: role.model, permission: permission.model,
      acceptance: acceptanceStatus.model, identity: userIdentity.model)
  }
}

extension CKShare.ParticipantRole {
  init(_ model: ShareRole) {
    self =
      switch model {
      case .unknown: .unknown
      case .owner: .owner
      case .administrator: .administrator
      case .privateUser: .privateUser
      case .publicUser: .publicUser
      }
  }

  var model: ShareRole {
    switch self {
    case .unknown: .unknown
    case .owner: .owner
    case .administrator: .administrator
    case .privateUser: .privateUser
    case .publicUser: .publicUser
    @unknown default: .unknown
    }
  }
}

extension CKShare.ParticipantPermission {
  init(_ model: SharePermission) {
    self =
      switch model {
      case .unknown: .unknown
      case .none: .none
      case .readOnly: .readOnly
      case .readWrite: .readWrite
      }
  }

  var model: SharePermission {
    switch self {
    case .unknown: .unknown
    case .none: .none
    case .readOnly: .readOnly
    case .readWrite: .readWrite
    @unknown default: .unknown
    }
  }
}

extension CKShare.ParticipantAcceptanceStatus {
  init(_ model: ShareAcceptance) {
    self =
      switch model {
      case .unknown: .unknown
      case .pending: .pending
      case .accepted: .accepted
      case .removed: .removed
      }
  }

  var model: ShareAcceptance {
    switch self {
    case .unknown: .unknown
    case .pending: .pending
    case .accepted: .accepted
    case .removed: .removed
    @unknown default: .unknown
    }
  }
}
