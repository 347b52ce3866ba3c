internal import JSONCoding
internal import WebServices

extension ServiceCall {
  /// Returns the call that fetches a page of the notification log.
  ///
  /// - Parameter limit: the largest number of notifications; 0 lets the server choose.
  static func notificationChanges(since token: CKServerChangeToken?, limit: Int) -> ServiceCall {
    let request = NotificationChangesRequest(syncToken: token?.syncToken, resultsLimit: limit)
    return ServiceCall(operation: "notifications/changes", scope: nil, body: request.body)
  }

  static func marking(_ notificationIDs: [CKNotification.ID]) -> ServiceCall {
    let request = MarkNotificationsReadRequest(notificationIDs: notificationIDs.map(\.identifier))
    return ServiceCall(operation: "notifications/markRead", scope: nil, body: request.body)
  }
}

extension CKOperation {
  /// Throws `internalError` when the answer or one of its entries cannot be read.
  func notificationPage(
    of answer: ServiceExchange.Answer
  ) throws(CKError) -> PetrelNotificationPage {
    let response = try read { () throws(ServiceError) in
      try NotificationChangesResponse(parsing: answer.body)
    }
    var notifications: [CKNotification] = []
    for item in response.notifications {
      guard let notification = CKNotification.logged(item) else {
        throw CKError(
          .internalError, "an entry in the server's answer cannot be read as a notification")
      }
      notifications.append(notification)
    }
    return PetrelNotificationPage(
      notifications: notifications, token: CKServerChangeToken(syncToken: response.syncToken),
      moreComing: response.moreComing, isRestart: false)
  }

  /// Returns the result for each ID in the request of ``ServiceCall/marking(_:)``, in the order of
  /// the request.
  ///
  /// - Throws: `internalError` when the answer cannot be read.
  func marks(
    of answer: ServiceExchange.Answer
  ) throws(CKError) -> [Result<MarkNotificationsReadResponse.Item, FailedItem>] {
    try read { () throws(ServiceError) in
      try MarkNotificationsReadResponse(parsing: answer.body)
    }.notifications
  }
}
