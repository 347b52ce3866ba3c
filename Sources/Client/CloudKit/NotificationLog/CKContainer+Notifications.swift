internal import CloudKitModel

extension CKContainer {
  /// Reads all notifications that the user's notification log has had since a token, through as many answers of the
  /// server as it takes. Petrel's own.
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
  /// The server keeps at most 10,000 notifications of a user, with 64 MiB of contents together, unless it is configured
  /// otherwise. Where that is too much memory, read ``petrelNotificationPages(since:)``.
  ///
  /// Where the token has expired, the log is read from its beginning, and ``PetrelNotificationPage/isRestart`` is true. Where
  /// it expires while this call goes from answer to answer, the call returns what it has read, with
  /// ``PetrelNotificationPage/moreComing``, and the next call begins anew.
  ///
  /// - Parameters:
  ///   - token: where to go on; nil means the beginning of the log.
  ///   - limit: notifications at most, from 1 on. Where there are more, ``PetrelNotificationPage/moreComing`` is true:
  ///     call again with the new token.
  /// - Throws: `invalidArguments` for a limit below 1 and for a token of another kind; `notAuthenticated` where nobody is
  ///   signed in; the errors of an unreachable server. Another call with the same token then reads the same.
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
      // What was read already is not among what the log has now.
      if page.isRestart, let whole { return whole }
      whole = whole?.followed(by: page) ?? page
    } while (whole?.notifications.count ?? 0) < limit
    guard let whole else {
      throw CKError(.internalError, "the server gave no page of the notification log")
    }
    return whole
  }

  /// The notifications that the user's notification log has had since a token, page by page. Petrel's own.
  ///
  /// - Parameter token: where to go on; nil means the beginning of the log.
  public func petrelNotificationPages(
    since token: CKServerChangeToken?
  ) -> PetrelNotificationPages {
    PetrelNotificationPages(container: self, token: token)
  }

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

  /// Marks notifications as read for all of the user's devices, as an app does when it has handled them. Petrel's own.
  ///
  /// Notifications that are marked already, and those that the server has deleted meanwhile, are passed over. The next reading of
  /// the log tells of each mark as a `readNotification`, on this device too.
  ///
  /// - Parameter notifications: any number. They are sent 400 at a time, so that an error may come when some are marked;
  ///   another call marks the rest.
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
  fileprivate func followed(by page: PetrelNotificationPage) -> PetrelNotificationPage {
    PetrelNotificationPage(
      notifications: notifications + page.notifications, token: page.token,
      moreComing: page.moreComing, isRestart: isRestart)
  }
}
