internal import CloudKitModel

extension CKShareParticipant {
  convenience init(_ model: ShareParticipant) {
    self.init(
      userIdentity: CKUserIdentity(model.identity), role: .init(model.role),
      permission: .init(model.permission), acceptanceStatus: .init(model.acceptance),
      participantID: model.participantID ?? UUID().uuidString,
      oneTimeURL: model.oneTimeURL.flatMap { URL(string: $0) })
  }

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
    }
  }
}
