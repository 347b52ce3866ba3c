import DatabaseAPI
import Measuring
import Storage
import StoreModel

extension MetricsPage {
  mutating func add(_ counts: ShareCounts?, refusing requests: RequestMetrics) {
    counter(
      "petrel_participant_refusals_total",
      "Requests and items in shared databases and about links of shares that were refused.",
      requests.refusedParticipants.map { .init([("code", $0.key.rawValue)], $0.value) }.sorted())
    guard let counts else { return }
    gauge("petrel_shares", "Shares, counted once a minute or less often.", counts.shares)
    gauge(
      "petrel_share_participants", "Participants without owners, counted with the shares.",
      [
        .init([("state", "accepted")], counts.accepted),
        .init([("state", "invited")], counts.invited),
      ])
  }
}
