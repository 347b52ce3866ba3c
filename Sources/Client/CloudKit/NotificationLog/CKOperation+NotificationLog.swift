internal import JSONCoding
internal import WebServices

extension ServiceCall {
  /// Asks for a page of the notification log.
  static func notificationChanges(since token: CKServerChangeToken?, limit: Int) -> ServiceCall {
    let request = NotificationChangesRequest(syncToken: token?.syncToken, resultsLimit: limit)
    return ServiceCall(operation: "notifications/changes", scope: nil, body: request.body)
  }

  /// Marks notifications as read.
  static func marking(_ notificationIDs: [CKNotification.ID]) -> ServiceCall {
    let request = MarkNotificationsReadRequest(notificationIDs: notificationIDs.map(\.identifier))
    return ServiceCall(operation: "notifications/markRead", scope: nil, body: request.body)
  }
}

extension CKOperation {
  /// The page that the server answered to ``ServiceCall/notificationChanges(since:limit:)``.
  func notificationPage(
    of answer: ServiceExchange.Answer
  ) throws(CKError) -> PetrelNotificationPage {
    let response = try read { () throws(ServiceError) in
      try NotificationChangesResponse(parsing: answer.body)
    }
    var notifications: [CKNotification] = []
    for item in response.notifications {
      guard let notification = CKNotification.logged(item) else {
        throw CKError(.internalError, "the server's answer has an entry that is no notification")
      }
      notifications.append(notification)
    }
    return PetrelNotificationPage(
      notifications: notifications, token: CKServerChangeToken(syncToken: response.syncToken),
      moreComing: response.moreComing, isRestart: false)
  }

  /// What became of each ID of ``ServiceCall/marking(_:)``, in order.
  func marks(
    of answer: ServiceExchange.Answer
  ) throws(CKError) -> [Result<MarkNotificationsReadResponse.Item, FailedItem>] {
    try read { () throws(ServiceError) in
      try MarkNotificationsReadResponse(parsing: answer.body)
    }.notifications
  }
}
