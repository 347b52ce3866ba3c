internal import CloudKitModel

extension CKContainer {
  /// Returns all notifications that are new in the user's notification log since a token.
  ///
  /// This method is an addition of Petrel. The client sends as many requests as the log needs.
  ///
  /// ```swift
  /// let container = CKContainer.default()
  /// let news = try await container.petrelNotifications(since: savedToken)
  /// if news.isRestart { reloadFromTheDatabases() }
  /// handle(news.notifications)
  /// savedToken = news.token
  /// try await container.petrelMarkRead(news.notifications)
  /// ```
  ///
  /// By default the server keeps at most 10,000 notifications of a user, with 64 MiB of contents together. If that is
  /// too much memory, read ``petrelNotificationPages(since:)``.
  ///
  /// If the token has expired, the method reads the log from its beginning, and ``PetrelNotificationPage/isRestart`` is
  /// true. If the token expires between two requests, the method returns the notifications read so far, with
  /// ``PetrelNotificationPage/moreComing`` set. The next call then begins with the start of the log.
  ///
  /// - Parameters:
  ///   - token: the token of the last call; `nil` means the beginning of the log.
  ///   - limit: the largest number of notifications, at least 1. If the log has more,
  ///     ``PetrelNotificationPage/moreComing`` is true: call again with the new token.
  /// - Throws: `invalidArguments` for a limit below 1 and for a token of another kind. `notAuthenticated` when no user
  ///   is signed in. The errors of an unreachable server. After an error, another call with the same token reads the
  ///   same notifications.
  public func petrelNotifications(
    since token: CKServerChangeToken?, limit: Int = 10_000
  ) async throws -> PetrelNotificationPage {
    guard limit > 0 else {
      throw CKError(.invalidArguments, "limit \(limit) must be at least 1")
    }
    var pages = petrelNotificationPages(since: token).makeAsyncIterator()
    var whole: PetrelNotificationPage?
    repeat {
      let count = whole?.notifications.count ?? 0
      pages.limit = min(limit - count, ServiceLimits.recordsPerPage)
      guard let page = try await pages.next(isolation: nil) else { break }
      // The page repeats notifications that were read before the restart, so it is not appended.
      if page.isRestart, let whole { return whole }
      whole = whole?.followed(by: page) ?? page
    } while (whole?.notifications.count ?? 0) < limit
    guard let whole else {
      throw CKError(.internalError, "the server's answer has no page of the notification log")
    }
    return whole
  }

  /// Returns the notifications that are new in the user's notification log since a token, as a sequence of pages.
  ///
  /// This method is an addition of Petrel. The first request is sent when the sequence is iterated.
  ///
  /// - Parameter token: the token of the last page; `nil` means the beginning of the log.
  public func petrelNotificationPages(
    since token: CKServerChangeToken?
  ) -> PetrelNotificationPages {
    PetrelNotificationPages(container: self, token: token)
  }

  /// Fetches one page of the notification log.
  ///
  /// - Parameter limit: the largest number of notifications; 0 lets the server choose.
  func notificationPage(
    since token: CKServerChangeToken?, limit: Int
  ) async throws -> PetrelNotificationPage {
    try await CKOperation.result { completion in
      let operation = ReadNotificationsOperation()
      operation.token = token
      operation.limit = limit
      operation.completion = completion
      return self.run(operation)
    }
  }

  /// Marks notifications as read for all devices of the user. An app does this after it has handled them.
  ///
  /// This method is an addition of Petrel. Notifications that are marked already, and those that the server has deleted
  /// in the meantime, are skipped. The next read of the log reports each mark as a `readNotification`, on this device
  /// too.
  ///
  /// - Parameter notifications: any number of notifications. The client sends 400 in a request. After an error some may
  ///   be marked; another call marks the rest.
  /// - Throws: the error of the first request that failed.
  public func petrelMarkRead(_ notifications: [CKNotification]) async throws {
    var marked: Set<CKNotification.ID> = []
    let ids = notifications.filter { $0.notificationType != .readNotification }
      .compactMap(\.notificationID).filter { marked.insert($0).inserted }
    for start in stride(from: 0, to: ids.count, by: ServiceLimits.operationsPerRequest) {
      let part = Array(ids[start..<min(start + ServiceLimits.operationsPerRequest, ids.count)])
      try await CKOperation.result { (completion: @escaping (Result<Void, any Error>) -> Void) in
        let operation = MarkNotificationsOperation()
        operation.notificationIDs = part
        operation.completion = completion
        return self.run(operation)
      }
    }
  }
}

extension PetrelNotificationPage {
  /// Returns this page and the next one as one page, with the token of the next one.
  fileprivate func followed(by page: PetrelNotificationPage) -> PetrelNotificationPage {
    PetrelNotificationPage(
      notifications: notifications + page.notifications, token: page.token,
      moreComing: page.moreComing, isRestart: isRestart)
  }
}
