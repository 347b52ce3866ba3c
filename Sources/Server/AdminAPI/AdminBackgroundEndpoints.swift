import CloudKitModel
import Concurrency
import StoreModel
import WebServices

/// The endpoint `background`, which lists what the server does by itself, and how it goes.
///
///     { "jobs": [ { "name": "retention", "owner": "Storage",
///                   "trigger": "every hour, and after 10,000 notifications", "runs": 3, "failures": 0,
///                   "isRunning": false, "lastRun": 1764489600000 } ] }
///
/// `failure` and `lastFailure` are missing if no run has failed since the start of the server.
struct AdminBackgroundEndpoints: AdminEndpoints {
  /// Nil in a process that runs no server.
  let gauges: AdminGauges?

  private static let shape = AnswerShape<BackgroundJob>("BackgroundJob") { job in
    job.member("name") { $0.name }
    job.member("owner") { $0.owner }
    job.member("trigger") { $0.trigger }
    job.member("runs", as: .count) { $0.status.runs }
    job.member("failures", as: .count) { $0.status.failures }
    job.member("isRunning") { $0.status.isRunning }
    job.optional("lastRun") { $0.status.lastRun.map { Timestamp($0) } }
    job.optional("lastFailure") { $0.status.lastFailure.map { Timestamp($0) } }
    job.optional("failure") { $0.status.failure }
  }

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "background", [], "What the server does by itself, and how it goes",
      answers: .list("jobs", of: shape)
    ) { group in
      { _ in
        guard let gauges = group.gauges else {
          throw ServiceError(.notFound, "no server runs in this process")
        }
        return gauges.jobs
      }
    }
  ]
}
