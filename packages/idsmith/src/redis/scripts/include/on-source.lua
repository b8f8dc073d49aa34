-- Begins a script on the old owner, which gives keys away once the resharding has begun there. Ends the script with the reply
-- STALE otherwise.

--- @include "moving-keys"
--- @const STALE

if not isOurs or (phase ~= 'moving' and phase ~= 'done') then return { STALE } end
