# Teams: who may be told of what others take on for them.

team-about = In a team, whoever takes something on for another has it told to the other. Nothing else is shared: each memory stays with its owner.
team-none = You are in no team yet.
team-line = __{ $team }__ — { $names }
team-name-ask = What is the team to be called?
team-created = The team “{ $team }” is there, with you in it. Invite those who belong to it.
team-invite-ask = Whom shall I ask to join “{ $team }”? A @username or a numeric ID of somebody who talks to me.
team-invited = { $name } is asked to join “{ $team }”.
team-invitation = { $name } invites you to the team “{ $team }”: you would be told of what the others take on for you, and they of what you take on for them. Join?
team-accepted = You are in “{ $team }” now. To leave: /team
team-declined = You are not joining “{ $team }”.
team-joined = { $name } has joined the team “{ $team }”.
team-left = { $name } has left the team “{ $team }”.
team-leave-confirm = Leave “{ $team }”? Nobody in it will be told of your tasks any more, nor you of theirs.
team-left-yourself = You have left “{ $team }”.
team-button-new = New team
team-button-invite = Invite to { $team }
team-button-leave = Leave { $team }
team-button-leave-yes = Yes, leave
team-button-accept = Join
team-button-decline = No, thanks
refused-team_name = A team's name has 1 to 60 characters.
refused-team_count = You are in as many teams as one can be. Leave one first: /team
refused-team_stranger = Nobody who talks to me is called that. A @username or a numeric ID is needed, and the bot's owner has to let them in first.
refused-team_member = They are in the team already.
refused-team_full = The team has as many members as a team can have.
refused-team_declined = They have said no. You can ask again in a week.
