import CloudKitModel
import Foundation
import Storage
import StoreModel
import WebServices

/// A share in a list, with the names of users.
struct ListedShare: Sendable {
  var share: ShareSummary
  /// The account names of users, by user record name.
  var names: [String: String]

  /// The shape of a share in a list. `share` is the name of the share's record.
  static let shape = AnswerShape<ListedShare>("ShareEntry") { listed in
    listed.members(of: members) { $0 }
  }

  fileprivate static let members = AnswerShape<ListedShare> { listed in
    listed.member("share") { $0.share.shareID.recordName }
    listed.member("zone") { $0.share.shareID.zoneID.zoneName }
    listed.member("owner") { $0.share.owner }
    listed.optional("ownerName") { $0.names[$0.share.owner] }
    listed.optional("root") { $0.share.rootRecordName }
    listed.member("publicPermission") { $0.share.publicPermission }
    listed.member("invited", as: .count) { $0.share.invited }
    listed.member("accepted", as: .count) { $0.share.accepted }
  }
}

/// A share with its participants, and the names of users.
struct ShownShare: Sendable {
  /// The share. Its record has the URL.
  var share: AdministeredShare
  var names: [String: String]

  /// The content of the share as its owner sees it.
  fileprivate var content: ShareContent { share.record.shareContent ?? ShareContent() }

  var mentionedUsers: Set<String> {
    let identities =
      (content.participants ?? []).map(\.identity) + (content.requesters ?? [])
      + (content.blocked ?? [])
    return Set(identities.compactMap(\.userRecordName)).union([share.summary.owner])
  }

  /// The shape of a share. `records` counts at most `AdministeredShare.countLimit` records;
  /// `moreRecords` says whether there are others.
  static let shape = AnswerShape<ShownShare>("ShownShare") { shown in
    shown.members(of: ListedShare.members) {
      ListedShare(share: $0.share.summary, names: $0.names)
    }
    shown.optional("link") { $0.content.url }
    shown.member("allowsAccessRequests") { $0.content.deniesAccessRequests == false }
    shown.member("records", as: .count) { $0.share.coveredRecords }
    shown.member("moreRecords") { $0.share.coversMore }
    shown.list("participants", of: ShownParticipant.shape) { $0.participants }
    shown.list("requesters", of: ShownUser.shape) { $0.users(\.requesters) }
    shown.list("blocked", of: ShownUser.shape) { $0.users(\.blocked) }
  }

  private var participants: [ShownParticipant] {
    (content.participants ?? []).map { participant in
      ShownParticipant(
        participant: participant,
        name: participant.identity.userRecordName.flatMap { names[$0] },
        link: content.oneTimeLinks?.first {
          participant.participantID.map($0.participantIDs.contains) == true
        }?.url)
    }
  }

  private func users(_ list: KeyPath<ShareContent, [UserIdentity]?>) -> [ShownUser] {
    (content[keyPath: list] ?? []).compactMap(\.userRecordName).map {
      ShownUser(userRecordName: $0, name: names[$0])
    }
  }
}

/// A participant of a share with the name of the account.
struct ShownParticipant: Sendable {
  var participant: ShareParticipant
  /// The name of the account; nil if there is none, or if it is not known who the participant is.
  var name: String?
  /// The link for a single use; nil for a participant without one.
  var link: String?

  /// The shape of a participant. The address is that by which the owner invited the participant.
  static let shape = AnswerShape<ShownParticipant>("ShownParticipant") { shown in
    shown.optional("participantID") { $0.participant.participantID }
    shown.optional("user") { $0.participant.identity.userRecordName }
    shown.optional("userName") { $0.name }
    shown.optional("emailAddress") { $0.participant.identity.lookup?.emailAddress }
    shown.optional("phoneNumber") { $0.participant.identity.lookup?.phoneNumber }
    shown.member("role") { $0.participant.role }
    shown.member("permission") { $0.participant.permission }
    shown.member("state") { $0.participant.acceptance }
    shown.optional("added") { $0.participant.added }
    shown.optional("link") { $0.link }
  }
}

/// A user with the name of the account.
struct ShownUser: Sendable {
  var userRecordName: String
  /// The name of the account; nil for a user without one.
  var name: String?

  static let shape = AnswerShape<ShownUser> { user in
    user.member("user") { $0.userRecordName }
    user.optional("userName") { $0.name }
  }
}
